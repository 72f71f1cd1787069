// An engine whose trials suppose something of the host code (Suppositions).
#pragma once

#include "harness/trial/engine.hpp"

namespace warpcheck {

class SupposingEngine final : public Engine {
 public:
  explicit SupposingEngine(Engine& engine, const cudart::Suppositions& supposed = {})
      : engine_(engine), supposed_(supposed) {}

  // From the next trial on.
  void suppose(const cudart::Suppositions& supposed) { supposed_ = supposed; }

  TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override {
    TrialSettings with_it = settings;
    with_it.supposed = supposed_;
    return engine_.run(with_it, body);
  }

 private:
  Engine& engine_;
  cudart::Suppositions supposed_;
};

}  // namespace warpcheck
