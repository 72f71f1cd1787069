#include "harness/trial/engine.hpp"

namespace warpcheck {
namespace {

class VirtualGpu final : public Engine {
 public:
  TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override {
    TrialSettings chosen = settings;
    chosen.limits.compile = compile;
    cudart::begin_trial(chosen);
    try {
      body();
    } catch (...) {
      static_cast<void>(cudart::end_trial());
      throw;
    }
    return cudart::end_trial();
  }

  vgpu::Compile compile = vgpu::Compile::when_it_pays;
};

VirtualGpu& engine() {
  static VirtualGpu engine;
  return engine;
}

}  // namespace

Engine& virtual_gpu() { return engine(); }

void set_compile(vgpu::Compile compile) { engine().compile = compile; }

}  // namespace warpcheck
