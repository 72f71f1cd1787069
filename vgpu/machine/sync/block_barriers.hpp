// Barriers of a whole block (PTX ISA 9.0, 9.7.13.1), and what all barriers have in common.
//
// Programs that use only barrier 0 with all threads, nearly all programs, need only a count of the
// waiting threads. named_barriers.hpp has the other barriers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/passed_barriers.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class BlockBarriers {
 public:
  using Waiter = std::pair<Warp*, Fragment*>;

  explicit BlockBarriers(RunningLaunch& launch) : launch_(launch) {
    release_.kind = Sync::Kind::barrier_complete;
  }

  // Lanes of a fragment arrive at barrier 0.  The fragment's pc is already stored.
  void arrive(RunningFragment& run, std::size_t index, std::uint32_t lanes) {
    Fragment& fragment = run.warp.fragments[index];
    fragment.state = Fragment::State::at_barrier;
    fragment.barrier = 0;
    run.slot.waiting_lanes += lanes == ~0u ? kWarpLanes : lane_count(lanes);
    if (run.slot.waiting_lanes == run.slot.live_lanes) complete_if_all_wait(run.slot);
  }
  // Completes a barrier when every thread that has not exited waits; also called after an exit.
  // Threads that wait at different barriers cannot all be at the same one: that is reported, and
  // the barrier completes nevertheless, so that the trial can continue.
  void complete_if_all_wait(Slot& slot);
  // All threads of the block have arrived at one barrier, and have already continued.
  void complete_together(Slot& slot);

  // All threads of the block wait, at any barriers: lets them continue.
  void release(Slot& slot);
  // Reports divergence when all threads of the block wait.  An aligned barrier is the same
  // instruction for all threads; other barriers with one number are one barrier wherever their
  // instructions are.  False: there is nothing to report.
  //   is_passed_by: it has been reported that threads that have exited had passed the barrier by
  bool report_divergence(const Slot& slot, bool is_passed_by = false);
  // Reports threads that have exited and had passed by a barrier that completes.
  //   arrived: as for PassedBarriers::report()
  bool report_passed_by(const Slot& slot, const std::vector<Waiter>& waiters,
                        const std::vector<WarpLanes>* arrived = nullptr) const;
  [[nodiscard]] std::vector<Waiter> waiters_of(Slot& slot, std::uint32_t number) const;
  // Executes .red: combines the predicates of the waiting threads; each thread gets the result.
  void reduce(const std::vector<Waiter>& waiters);

 private:
  bool release_together(Slot& slot);
  void report_release(const Slot& slot);
  [[nodiscard]] bool wait_apart(const Slot& slot, const Warp& warp, const Fragment& one,
                                const Fragment& other) const;
  [[nodiscard]] std::optional<BarrierDivergence::Reason> difference(const Fragment& one,
                                                                    const Fragment& other) const;
  [[nodiscard]] bool is_one_number(const Slot& slot) const;
  bool find_difference(const Slot& slot, BarrierDivergence& divergence) const;
  void note_roles(const Slot& slot);
  bool find_left_role(const Slot& slot, BarrierDivergence& divergence) const;

  // Where each warp of a block waited when whole warps last met at different barriers.
  struct Roles {
    std::uint64_t serial = 0;  // of the block
    std::vector<std::uint32_t> pcs;
  };

  RunningLaunch& launch_;
  Sync release_;              // as observers are told
  std::vector<Roles> roles_;  // by slot
};

}  // namespace warpcheck::vgpu
