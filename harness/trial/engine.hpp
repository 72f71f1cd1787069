// Runs a trial: on the virtual GPU, on a real one, or on a fake in a test.
#pragma once

#include "harness/input/function_ref.hpp"
#include "vgpu/cudart/device/virtual_device.hpp"

namespace warpcheck {

using cudart::Build;
using cudart::TrialResult;
using cudart::TrialSettings;

class Engine {
 public:
  virtual ~Engine() = default;
  // Runs `body`, ordinary CUDA host code, as one trial on a fresh device.  An exception of the body
  // ends the trial and passes through.
  virtual TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) = 0;
};

// The default.  One trial at a time in a process, because the CUDA runtime's state is global.
Engine& virtual_gpu();

// When the trials of virtual_gpu() compile programs to machine code, in this process and in those
// that it forks from now on: instead of what the settings of the trials say.
void set_compile(vgpu::Compile compile);

}  // namespace warpcheck
