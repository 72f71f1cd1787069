// The real GPU as an engine: unchanged pairs run through the real CUDA runtime.
//
// Only for the process that runs trials: after an illegal access a CUDA context is lost, and with
// it the process's use of the device (gpu_worker.cpp).
#pragma once

#include <string>

#include "harness/trial/engine.hpp"
#include "vgpu/cudart/real/real_runtime.hpp"

namespace warpcheck {

class RealGpu final : public Engine {
 public:
  // library: see cudart::use_real_runtime().  Throws cudart::RealRuntimeError.
  explicit RealGpu(const std::string& library);
  ~RealGpu() override;
  RealGpu(const RealGpu&) = delete;
  RealGpu& operator=(const RealGpu&) = delete;

  // Only the build of the settings matters, and it must be the optimised one; others are refused. A
  // launch that died is a finding, and then the device is lost.
  //
  // The device is not fresh: module variables keep the values of earlier trials.
  TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override;

  [[nodiscard]] const cudart::RealDevice& device() const { return device_; }
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  cudart::RealDevice device_;
  bool lost_ = false;
};

}  // namespace warpcheck
