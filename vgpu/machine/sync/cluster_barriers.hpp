// The barrier of a cluster (PTX ISA 9.0, 9.7.13.3).
//
// It completes when all threads of the cluster that have not exited have arrived.  A thread
// continues after its arrival; a wait waits for the phase of the thread's arrival.  An H200 lets a
// thread pass that waits without having arrived, and counts a thread that arrives twice.  Both are
// undefined, and are reported here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/passed_barriers.hpp"
#include "vgpu/machine/warp/running_fragment.hpp"

namespace warpcheck::vgpu {

class ClusterBarriers {
 public:
  struct State {
    std::uint64_t phase = 0;
    std::uint32_t live_lanes = 0;     // threads that have not exited
    std::uint32_t arrived_lanes = 0;  // threads that have arrived in this phase
  };
  // By the first block of the cluster, in programs that use cluster barriers.
  using States = std::map<std::uint32_t, State>;

  explicit ClusterBarriers(RunningLaunch& launch) : launch_(launch) {}

  void begin_launch() { states_.clear(); }
  void begin_cluster(std::uint32_t first, std::uint32_t threads) { states_[first] = {0, threads}; }
  // Lanes of a fragment execute barrier.cluster.  The fragment's pc is already stored.
  Step arrive_or_wait(RunningFragment& run, std::size_t index, const Instr& instr,
                      std::uint32_t lanes);
  // Called after an exit: threads that have exited are not waited for.
  void leave(Slot& slot, Warp& warp, std::uint32_t lanes);
  // Returns whether a block in which no thread can continue waits for another block that can.
  [[nodiscard]] bool waits(const Slot& slot) const;

  [[nodiscard]] const State& state_of(std::uint32_t first) const { return states_.at(first); }
  [[nodiscard]] const States& states() const { return states_; }
  void restore(const States& states) { states_ = states; }

 private:
  void report(const Slot& slot, const Warp& warp, ClusterBarrier::Kind kind, std::uint32_t lanes,
              std::uint64_t phase, bool relaxed) const;
  void report_passed_by(std::uint32_t first, const PassedBarriers::Waiter& last) const;
  void complete(std::uint32_t first, const PassedBarriers::Waiter& last);

  RunningLaunch& launch_;
  States states_;
};

}  // namespace warpcheck::vgpu
