// One warp: which of its fragments runs, and until when the warp does.
#pragma once

#include <cstddef>
#include <cstdint>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/fragment_loop.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"
#include "vgpu/machine/warp/turns.hpp"

namespace warpcheck::vgpu {

class Warps {
 public:
  Warps(RunningLaunch& launch, const Turns& turns, FragmentLoop& fragments)
      : launch_(launch), turns_(turns), fragments_(fragments) {}

  // Runs it for what the launch has left of a quantum.
  Stop run(Slot& slot, Warp& warp);
  // The same of warps that have not used up a quantum yet: `number` first and then, as the default
  // policy has it, the first of the block that is ready, until one stops otherwise than at a
  // barrier or its exit, none is ready, or the launch has executed `until` instructions.  What
  // follows from the last one's stop is the caller's.
  //   number: becomes that of the warp that ran last
  Stop run_in_turn(Slot& slot, std::uint32_t& number, std::uint64_t until);
  // The fragment to run: deepest in calls, then lowest pc, so that diverged lanes meet again.
  // Fragments at the same place become one.  SIZE_MAX: none can.
  //   limit: becomes the pc at which another one waits
  static std::size_t pick(Warp& warp, std::uint32_t& limit);
  // The index of the fragment that ran last.
  [[nodiscard]] std::size_t last_fragment() const { return last_fragment_; }

 private:
  bool is_released(Warp& warp);
  Stop run_one(Slot& slot, Warp& warp);
  Stop run_rounds(Slot& slot, std::uint32_t& number, std::uint64_t until);
  Stop run_fragments(Slot& slot, Warp& warp);
  RunningLaunch& launch_;
  const Turns& turns_;
  FragmentLoop& fragments_;
  std::size_t last_fragment_ = 0;
};

}  // namespace warpcheck::vgpu
