// An engine whose trials are experiments: they run changed device code, or suppose something of the
// host code.
#pragma once

#include <memory>
#include <utility>

#include "harness/trial/engine.hpp"
#include "vgpu/ptx/edit/program_edit.hpp"

namespace warpcheck {

class ExperimentEngine final : public Engine {
 public:
  explicit ExperimentEngine(Engine& engine) : engine_(engine) {}
  ExperimentEngine(Engine& engine, ptx::Edits edits)
      : engine_(engine), edits_(std::make_shared<const ptx::Edits>(std::move(edits))) {}

  // From the next trial on.
  void suppose(const cudart::Suppositions& supposed) { supposed_ = supposed; }

  TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override {
    TrialSettings changed = settings;
    if (edits_ != nullptr) changed.edits = edits_;
    changed.supposed = supposed_;
    return engine_.run(changed, body);
  }

 private:
  Engine& engine_;
  std::shared_ptr<const ptx::Edits> edits_;  // null: those of the trial
  cudart::Suppositions supposed_{};
};

}  // namespace warpcheck
