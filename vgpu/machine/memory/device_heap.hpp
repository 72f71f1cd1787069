// The device heap: malloc() and free() in device code, lane after lane (CUDA Programming Guide,
// "Dynamic Global Memory Allocation and Operations").
#pragma once

#include <cstdint>

#include "vgpu/machine/memory/targets.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class DeviceHeap {
 public:
  DeviceHeap(RunningLaunch& launch, Targets& targets) : launch_(launch), targets_(targets) {}

  // Executes heap_allocate or heap_free.
  void call(RunningFragment& run, const Instr& instr, std::uint32_t active);
  // Allocates for one lane. 0: there is not enough memory.
  std::uint64_t allocate(const RunningFragment& run, unsigned lane, std::uint64_t bytes);
  void free(const RunningFragment& run, unsigned lane, std::uint64_t address);

 private:
  // Returns the place of the running call of malloc() or free().  If its function has no source
  // lines (nvcc makes the destructors that `delete` calls through a virtual table without), it is
  // the place of the nearest call on the way there that has one.
  [[nodiscard]] CodePlace place_with_line(const RunningFragment& run, unsigned lane) const;

  RunningLaunch& launch_;
  Targets& targets_;
};

}  // namespace warpcheck::vgpu
