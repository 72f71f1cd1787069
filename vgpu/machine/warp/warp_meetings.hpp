// Warp operations for which lanes wait for each other: shfl.sync, vote.sync, match.sync,
// redux.sync, elect.sync, bar.warp.sync.
//
// PTX ISA 9.0, 9.7.9.6 and 9.7.13: a lane waits until all lanes of its member mask that have not
// exited have executed the operation with the same qualifiers and the same mask.  The ISA does not
// require the same instruction (only targets below sm_70 did), so lanes at different places of the
// program meet if their operations are alike.  Of these operations, only bar.warp.sync orders
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

  // Returns whether the lanes that execute `instr` now are exactly the members that all of them
  // wait for.
  [[nodiscard]] bool all_members_are(const RunningFragment& run, const Instr& instr,
                                     std::uint32_t active) const;
  // Executes the operation for lanes that are at the same place and are all its members.
  void operate(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  // `active` lanes of a fragment arrive at an operation whose members they are not exactly.  The
  // fragment's pc is already stored.
  void arrive(RunningFragment& run, std::size_t index, const Instr& instr, std::uint32_t active);
  // Called after an exit: no lane waits for lanes that have exited.
  void recheck(Slot& slot, Warp& warp);
  // Releases lanes that wait for lanes of their warp which wait elsewhere.  The divergence is
  // reported, and the lanes that have arrived continue without the others, so that the trial can
  // continue.  False: there are no such lanes.
  bool release_stuck(Slot& slot);
  // Returns the fragments that wait for the same operation as fragment `index`, including it.
  [[nodiscard]] std::vector<std::size_t> fragments_at_same_operation(const Warp& warp,
                                                                     std::size_t index) const;

 private:
  bool operate_if_complete(Slot& slot, Warp& warp, std::size_t index);
  void operate_now(Slot& slot, Warp& warp, const std::vector<std::size_t>& here);
  void execute(RunningFragment& run, const Instr& instr, std::uint32_t lanes);
  void execute_across(Warp& warp, const std::vector<std::size_t>& here);
  void undefined_across_lanes(RunningFragment& run, const Instr& instr, std::uint32_t active);
  void use_of_pending(const RunningFragment& run, const Instr& instr, std::uint32_t active) const;
  void report_collective(const WarpPlace& place, std::uint32_t pc, std::uint32_t lanes,
                         std::uint32_t members) const;

  RunningLaunch& launch_;
};

}  // namespace warpcheck::vgpu
