// The virtual time of a device: a fixed function of the executed work, so it is the same on every
// host.  It does not measure speed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/cudart/device/virtual_gpu.hpp"

namespace warpcheck::cudart {

class VirtualClock {
 public:
  [[nodiscard]] std::uint64_t cycles() const { return cycles_; }
  // steps: warp instructions.
  void spend_launch(std::uint64_t steps) { cycles_ += virtual_gpu::kLaunchCycles + steps; }
  // Adds the time of a copy or a fill.
  void spend_copy(std::size_t bytes) {
    cycles_ += virtual_gpu::kCopyCycles + bytes / virtual_gpu::kCopyBytesPerCycle;
  }
  void reset() { cycles_ = 0; }

 private:
  std::uint64_t cycles_ = 0;
};

}  // namespace warpcheck::cudart
