#include "harness/trial/engine.hpp"

namespace warpcheck {
namespace {

class VirtualGpu final : public Engine {
 public:
  TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override {
    cudart::begin_trial(settings);
    try {
      body();
    } catch (...) {
      static_cast<void>(cudart::end_trial());
      throw;
    }
    return cudart::end_trial();
  }
};

}  // namespace

Engine& virtual_gpu() {
  static VirtualGpu engine;
  return engine;
}

}  // namespace warpcheck
