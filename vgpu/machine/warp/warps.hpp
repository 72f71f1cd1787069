// Runs one warp: one fragment after the other (fragments.hpp), until the warp stops.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/fragment_loop.hpp"
#include "vgpu/machine/warp/rounds.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"
#include "vgpu/machine/warp/turns.hpp"

namespace warpcheck::vgpu {

class Warps {
 public:
  Warps(RunningLaunch& launch, const Turns& turns, FragmentLoop& fragments, Rounds& rounds)
      : launch_(launch), turns_(turns), fragments_(fragments), rounds_(rounds) {}

  // Runs the warp for the rest of the launch's current quantum.
  Stop run(Slot& slot, Warp& warp);
  // Runs warps that have not used up a quantum yet: first `number`, then, by the default policy,
  // the first ready warp of the block.  Ends when a warp stops otherwise than at a barrier or its
  // exit, when none is ready, or when the launch has executed `until` instructions.  The caller
  // handles the last warp's stop.
  //   number: becomes the number of the warp that ran last
  Stop run_in_turn(Slot& slot, std::uint32_t& number, std::uint64_t until);
  // Returns the index of the fragment that ran last.
  [[nodiscard]] std::size_t last_fragment() const { return last_fragment_; }

 private:
  bool is_released(Warp& warp);
  Stop run_one(Slot& slot, Warp& warp);
  Stop run_rounds(Slot& slot, std::uint32_t& number, std::uint64_t until);
  std::optional<Stop> run_fragments(Slot& slot, Warp& warp);
  RunningLaunch& launch_;
  const Turns& turns_;
  FragmentLoop& fragments_;
  Rounds& rounds_;
  std::size_t last_fragment_ = 0;
};

}  // namespace warpcheck::vgpu
