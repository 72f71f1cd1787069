// Lists where each group of threads waits, for a report.
#pragma once

#include <vector>

#include "vgpu/machine/running_launch.hpp"
#include "vgpu/machine/sync/cluster_barriers.hpp"
#include "vgpu/machine/warp/warp_meetings.hpp"

namespace warpcheck::vgpu {

class WaitingThreads {
 public:
  WaitingThreads(const RunningLaunch& launch, const WarpMeetings& meetings,
                 const ClusterBarriers& cluster_barriers)
      : launch_(launch), meetings_(meetings), cluster_barriers_(cluster_barriers) {}

  // Adds the threads of a block that wait at a barrier or a warp operation.
  void list(const Slot& slot, std::vector<Waiting>& waiting) const;
  // Adds the threads of the same blocks that have exited, and sorts the list.
  void complete(std::vector<Waiting>& waiting) const;

 private:
  void list_exited(const Slot& slot, std::vector<Waiting>& waiting) const;

  const RunningLaunch& launch_;
  const WarpMeetings& meetings_;
  const ClusterBarriers& cluster_barriers_;
};

}  // namespace warpcheck::vgpu
