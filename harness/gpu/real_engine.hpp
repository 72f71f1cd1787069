// The real GPU as an engine: pairs as they are, through the real CUDA runtime.
//
// In the process that runs trials and nowhere else: after an illegal access a CUDA context is lost,
// and with it the process's use of the device (gpu_worker.cpp).
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

  // Of the settings only the build counts, and it is the one that is shipped; others are refused.
  // A launch that died is a finding, and then the device is lost.
  //
  // The device is not fresh: module variables keep what an earlier trial wrote.
  TrialResult run(const TrialSettings& settings, FunctionRef<void()> body) override;

  [[nodiscard]] const cudart::RealDevice& device() const { return device_; }
  [[nodiscard]] bool lost() const { return lost_; }

 private:
  cudart::RealDevice device_;
  bool lost_ = false;
};

}  // namespace warpcheck
