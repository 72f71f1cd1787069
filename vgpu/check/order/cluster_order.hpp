// The order that the barrier of a cluster establishes (PTX ISA 9.7.13.3).  A thread that waits
// acquires what all threads of the cluster released when they arrived.  A relaxed arrival releases
// only what an earlier fence of its thread has released; after fence.mbarrier_init, it releases
// only initialisations of mbarriers.
#pragma once

#include <cstdint>
#include <map>

#include "vgpu/check/order/thread_order.hpp"

namespace warpcheck::vgpu {

class ClusterOrder {
 public:
  explicit ClusterOrder(ThreadOrder& order) : order_(order) {}

  void clear();
  void pass(const ClusterBarrier& event);
  void fence_object_inits(const Fence& fence);
  // Returns whether the initialisation of an mbarrier comes before what a lane does now.
  [[nodiscard]] bool knows_init(SegmentId init, unsigned init_lane, const WarpPlace& place,
                                unsigned lane) const;

 private:
  struct Released {
    VectorClock all, inits;
  };
  struct State {
    std::uint64_t phase = 0;
    Released current, before;
  };
  void arrive(const ClusterBarrier& event, Released& released);
  void arrive_relaxed(const ClusterBarrier& event, Released& released);
  void wait(const ClusterBarrier& event, const Released& released);

  ThreadOrder& order_;
  std::map<BlockKey, State> barriers_;                               // by cluster
  std::map<std::uint64_t, VectorClock> fenced_inits_, known_inits_;  // by thread
};

}  // namespace warpcheck::vgpu
