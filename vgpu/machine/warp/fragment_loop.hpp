// The loop that executes instructions: those of one fragment, until it meets another, splits,
// waits, ends, or has used up the quantum.
//
// What an instruction does is said by the components that it is handed to; here is only which.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/machine/device_calls.hpp"
#include "vgpu/machine/memory/accesses.hpp"
#include "vgpu/machine/memory/copies.hpp"
#include "vgpu/machine/memory/device_heap.hpp"
#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/barrier_objects.hpp"
#include "vgpu/machine/texture/textures.hpp"
#include "vgpu/machine/warp/departures.hpp"
#include "vgpu/machine/warp/scalars.hpp"
#include "vgpu/machine/warp/turns.hpp"
#include "vgpu/machine/warp/warp_meetings.hpp"

namespace warpcheck::vgpu {

class FragmentLoop {
 public:
  struct Parts {
    Turns& turns;
    Scalars& scalars;
    Accesses& accesses;
    BarrierObjects& barrier_objects;
    Copies& copies;
    Textures& textures;
    DeviceHeap& heap;
    DeviceCalls& device_calls;
    WarpMeetings& meetings;
    Departures& departures;
  };
  FragmentLoop(RunningLaunch& launch, const Parts& parts) : launch_(launch), parts_(parts) {}

  //   limit: the pc at which another fragment waits
  Step run(Slot& slot, Warp& warp, std::size_t index, std::uint32_t limit);

 private:
  std::uint32_t guarded_lanes(const RunningFragment& run, const Instr& instr);
  void compute(RunningFragment& run, const Instr& instr, std::uint32_t active);
  std::uint32_t compute_in_line(RunningFragment& run, const Instr* code, std::uint32_t limit);
  bool jump(RunningFragment& run, const Instr& instr, std::uint32_t taken);
  Step branch(RunningFragment& run, std::size_t index, const Instr& instr, std::uint32_t taken);
  void fence(const RunningFragment& run, const Instr& instr, std::uint32_t lanes) const;

  RunningLaunch& launch_;
  Parts parts_;
};

}  // namespace warpcheck::vgpu
