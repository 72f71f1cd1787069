// Operations for which lanes of a warp wait for each other: shfl.sync, vote.sync, match.sync,
// redux.sync, elect.sync, bar.warp.sync.
//
// PTX ISA 9.0, 9.7.9.6 and 9.7.13: a lane waits until all lanes of its member mask that have not
// exited have executed the operation with the same qualifiers and the same mask.  Nothing there
// asks for the same instruction (only targets below sm_70 did), so lanes at different places of the
// program meet when their operations are alike.  Of these operations bar.warp.sync alone orders
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class WarpMeetings {
 public:
  explicit WarpMeetings(RunningLaunch& launch) : launch_(launch) {}

  // Whether the lanes that execute `instr` now are those that all of them wait for.
  [[nodiscard]] bool all_members_are(const RunningFragment& run, const Instr& instr,
                                     std::uint32_t active) const;
  // Executes the operation for lanes that are at the same place, and all there are.
  void operate(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  // `active` lanes of a fragment, which has its pc stored, arrive at an operation whose members
  // they are not all, or not only.
  void meet(RunningFragment& run, std::size_t index, const Instr& instr, std::uint32_t active);
  // After an exit: nobody waits for lanes that have left.
  void recheck(Slot& slot, Warp& warp);
  // Lanes that wait for lanes of their warp which wait elsewhere.  That is reported, and those that
  // are there go on without the others, so that the trial does.  False: there are none.
  bool release_stuck(Slot& slot);
  // Those that wait for the same as fragment `index`, which is one of them.
  [[nodiscard]] std::vector<std::size_t> fragments_at_same_operation(const Warp& warp,
                                                                     std::size_t index) const;

 private:
  bool meet_if_complete(Slot& slot, Warp& warp, std::size_t index);
  void meet_now(Slot& slot, Warp& warp, const std::vector<std::size_t>& here);
  void execute(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  void execute_across(Warp& warp, const std::vector<std::size_t>& here);
  void undefined_across_lanes(RunningFragment& run, const Instr& instr, std::uint32_t active);
  void tell_collective(const WarpPlace& place, std::uint32_t pc, std::uint32_t lanes,
                       std::uint32_t members) const;

  RunningLaunch& launch_;
};

}  // namespace warpcheck::vgpu
