// Calls of the device runtime by device code, executed lane by lane.  The device heap handles calls
// about memory; Launch::device_runtime (device_runtime.hpp) handles all others.
#pragma once

#include "vgpu/machine/device_runtime.hpp"
#include "vgpu/machine/memory/device_heap.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class DeviceCalls {
 public:
  DeviceCalls(RunningLaunch& launch, DeviceHeap& heap) : launch_(launch), heap_(heap) {}

  void call(RunningFragment& run, const Instr& instr, std::uint32_t active);

 private:
  DeviceAnswer answer(const RunningFragment& run, const DeviceCall& call, unsigned lane);

  RunningLaunch& launch_;
  DeviceHeap& heap_;
};

}  // namespace warpcheck::vgpu
