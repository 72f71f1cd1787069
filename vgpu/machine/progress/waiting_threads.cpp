#include "vgpu/machine/progress/waiting_threads.hpp"

#include <algorithm>
#include <bit>

namespace warpcheck::vgpu {

void WaitingThreads::list(const Slot& slot, std::vector<Waiting>& waiting) const {
  for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
    const Warp& warp = slot.warps[index];
    for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
      const Fragment& fragment = warp.fragments[i];
      Waiting one;
      one.place = launch_.place_of(slot, warp);
      one.pc = fragment.pc;
      one.lanes = fragment.mask;
      if (fragment.state == Fragment::State::at_barrier) {
        const NamedBarrier& barrier = slot.barriers[fragment.barrier];
        one.number = fragment.barrier;
        one.arrived = slot.waiting_lanes;
        one.expected = slot.live_lanes;
        if (launch_.program().has_named_barriers) {
          one.arrived = 0;
          for (const NamedBarrier::Arrival& arrival : barrier.arrivals) {
            one.arrived += arrival.complete
                               ? kWarpLanes
                               : static_cast<std::uint32_t>(std::popcount(arrival.lanes));
          }
          if (barrier.count != 0) one.expected = barrier.count;
        }
      } else if (fragment.state == Fragment::State::at_cluster_barrier) {
        const ClusterBarriers::State& cluster = cluster_barriers_.state_of(slot.cluster);
        one.kind = Waiting::Kind::cluster;
        one.arrived = cluster.arrived_lanes;
        one.expected = cluster.live_lanes;
      } else if (fragment.state == Fragment::State::at_warp_operation) {
        one.kind = Waiting::Kind::members;
        one.missing = fragment.members & warp.live;
        for (const std::size_t here : meetings_.fragments_at_same_operation(warp, i)) {
          one.missing &= ~warp.fragments[here].mask;
        }
      } else {
        continue;
      }
      waiting.push_back(one);
    }
  }
}

void WaitingThreads::list_exited(const Slot& slot, std::vector<Waiting>& waiting) const {
  for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
    const Warp& warp = slot.warps[index];
    Waiting one;
    one.kind = Waiting::Kind::exited;
    one.place = launch_.place_of(slot, warp);
    one.pc = slot.exit_pc;
    one.lanes = warp.lanes & ~warp.live;
    if (one.lanes != 0) waiting.push_back(one);
  }
}

void WaitingThreads::complete(std::vector<Waiting>& waiting) const {
  std::vector<Waiting> exited;
  for (const Slot* slot : launch_.resident()) {
    if (std::ranges::any_of(waiting,
                            [&](const Waiting& one) { return one.place.block == slot->block; })) {
      list_exited(*slot, exited);
    }
  }
  waiting.insert(waiting.end(), exited.begin(), exited.end());
  std::ranges::stable_sort(waiting, {}, [](const Waiting& one) {
    return WarpId{one.place.block, one.place.warp};
  });
}

}  // namespace warpcheck::vgpu
