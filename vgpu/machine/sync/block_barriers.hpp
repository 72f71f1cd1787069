// Barriers of a whole block (PTX ISA 9.0, 9.7.13.1), and what all barriers have in common.
//
// Programs that know only barrier 0 for all threads, which is nearly every program, need no more
// than a count of the threads that wait; the others are in named_barriers.hpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class BlockBarriers {
 public:
  using Waiter = std::pair<Warp*, Fragment*>;

  explicit BlockBarriers(RunningLaunch& launch) : launch_(launch) {}

  // Lanes of a fragment, which has its pc stored, arrive at barrier 0.
  void arrive(RunningFragment& run, std::size_t index, std::uint32_t lanes) {
    Fragment& fragment = run.warp.fragments[index];
    fragment.state = Fragment::State::at_barrier;
    fragment.barrier = 0;
    run.slot.waiting_lanes += lanes == ~0u ? kWarpLanes : lane_count(lanes);
    if (run.slot.waiting_lanes == run.slot.live_lanes) complete_if_all_wait(run.slot);
  }
  // A barrier completes when every thread that has not exited waits: after an exit, too.  Threads
  // that wait at different barriers cannot have meant the same: that is reported, and the barrier
  // completes all the same, so that the trial goes on.
  void complete_if_all_wait(Slot& slot);
  // All threads of the block have come to one barrier, and have gone on already.
  void complete_together(Slot& slot) const;

  // All threads of the block wait, at whatever barrier, and go on.
  void release(Slot& slot);
  // All threads of the block wait.  An aligned barrier is one instruction for all of them; others
  // of one number are one barrier wherever they stand.  False: there is nothing to report.
  bool report_divergence(const Slot& slot);
  [[nodiscard]] std::vector<Waiter> waiters_of(Slot& slot, std::uint32_t number) const;
  // .red: the predicates of the threads that wait, counted or joined; each gets the result.
  void reduce(const std::vector<Waiter>& waiters);

 private:
  bool release_together(Slot& slot);
  void tell_release(const Slot& slot) const;

  RunningLaunch& launch_;
};

}  // namespace warpcheck::vgpu
