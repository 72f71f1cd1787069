#include "vgpu/machine/sync/cluster_barriers.hpp"

#include <algorithm>
#include <bit>

namespace warpcheck::vgpu {

using Reason = BarrierDivergence::Reason;

Step ClusterBarriers::arrive_or_wait(RunningFragment& run, std::size_t index, const Instr& instr,
                                     std::uint32_t lanes) {
  State& cluster = states_[run.slot.cluster];
  Warp& warp = run.warp;
  if (instr.modifiers.arrive) {
    ++warp.fragments[index].pc;
    const std::uint32_t again = lanes & warp.cluster_arrived;
    if (again != 0) {
      launch_.report_misuse(run, static_cast<unsigned>(std::countr_zero(again)),
                            Reason::arrived_already);
      lanes &= ~again;
    }
    if (lanes == 0) return Step::again;
    warp.cluster_arrived |= lanes;
    for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
      warp.cluster_phase[static_cast<std::size_t>(std::countr_zero(rest))] = cluster.phase;
    }
    cluster.arrived_lanes += lane_count(lanes);
    report(run.slot, warp, ClusterBarrier::Kind::arrive, lanes, cluster.phase,
           instr.modifiers.order == ptx::Order::relaxed);
    complete(run.slot.cluster, {&run.slot, &warp, run.pc, lanes});
    return Step::again;
  }
  if (const std::uint32_t early = lanes & ~warp.cluster_arrived; early != 0) {
    launch_.report_misuse(run, static_cast<unsigned>(std::countr_zero(early)), Reason::not_arrived);
  }
  std::uint32_t waiting = 0;
  for (std::uint32_t rest = lanes & warp.cluster_arrived; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (warp.cluster_phase[lane] == cluster.phase) waiting |= 1u << lane;
  }
  const std::uint32_t done = lanes & warp.cluster_arrived & ~waiting;
  if (done != 0) {
    warp.cluster_arrived &= ~done;
    report(run.slot, warp, ClusterBarrier::Kind::wait, done, cluster.phase - 1, false);
  }
  if (waiting != lanes && waiting != 0) {
    const std::size_t other = warp.fragments.split(index, lanes & ~waiting);
    ++warp.fragments[other].pc;
  }
  if (waiting == 0) {
    ++warp.fragments[index].pc;
  } else {
    warp.fragments[index].state = Fragment::State::at_cluster_barrier;
  }
  return Step::again;
}

void ClusterBarriers::report(const Slot& slot, const Warp& warp, ClusterBarrier::Kind kind,
                             std::uint32_t lanes, std::uint64_t phase, bool relaxed) const {
  const ClusterBarrier event{kind,   &launch_.program(), launch_.place_of(slot, warp), lanes, phase,
                             relaxed};
  launch_.notify([&](Observer& observer) { observer.on_cluster_barrier(event); });
}

// Reports threads of the cluster that have passed the barrier by.
void ClusterBarriers::report_passed_by(std::uint32_t first,
                                       const PassedBarriers::Waiter& last) const {
  std::vector<PassedBarriers::Waiter> waiters;
  for (const Slot* slot : launch_.resident()) {
    if (slot->cluster != first) continue;
    for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
      for (const Fragment& fragment : slot->warps[index].fragments) {
        if (fragment.state != Fragment::State::at_cluster_barrier) continue;
        waiters.push_back({slot, &slot->warps[index], fragment.pc, fragment.mask});
      }
    }
  }
  if (last.slot != nullptr) waiters.push_back(last);
  launch_.observers().passed_barriers->report(PassedBarriers::Kind::cluster, waiters);
}

//   last: the lanes that have arrived last, if any
void ClusterBarriers::complete(std::uint32_t first, const PassedBarriers::Waiter& last) {
  State& cluster = states_[first];
  if (cluster.live_lanes == 0 || cluster.arrived_lanes != cluster.live_lanes) return;
  if (launch_.observers().passed_barriers != nullptr) report_passed_by(first, last);
  const std::uint64_t phase = cluster.phase++;
  cluster.arrived_lanes = 0;
  launch_.note_last();
  for (Slot* slot : launch_.resident()) {
    if (slot->cluster != first) continue;
    for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
      Warp& warp = slot->warps[index];
      for (Fragment& fragment : warp.fragments) {
        if (fragment.state != Fragment::State::at_cluster_barrier) continue;
        fragment.resume();
        warp.cluster_arrived &= ~fragment.mask;
        slot->ready_warps |= 1u << index;
        report(*slot, warp, ClusterBarrier::Kind::wait, fragment.mask, phase, false);
      }
    }
  }
}

void ClusterBarriers::leave(Slot& slot, Warp& warp, std::uint32_t lanes) {
  State& cluster = states_[slot.cluster];
  cluster.live_lanes -= lane_count(lanes);
  std::uint32_t arrived = 0;
  for (std::uint32_t rest = lanes & warp.cluster_arrived; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<std::size_t>(std::countr_zero(rest));
    if (warp.cluster_phase[lane] == cluster.phase) arrived |= 1u << lane;
  }
  cluster.arrived_lanes -= lane_count(arrived);
  if (launch_.observers().passed_barriers != nullptr) {
    launch_.observers().passed_barriers->forgive_at_cluster(slot, warp, arrived);
  }
  warp.cluster_arrived &= ~lanes;
  complete(slot.cluster, {});
}

bool ClusterBarriers::waits(const Slot& slot) const {
  if (!launch_.program().uses_clusters) return false;
  bool waits = false;
  for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
    waits |= std::ranges::any_of(slot.warps[index].fragments, [](const Fragment& fragment) {
      return fragment.state == Fragment::State::at_cluster_barrier;
    });
  }
  return waits && std::ranges::any_of(launch_.resident(), [&](const Slot* other) {
           return other->cluster == slot.cluster && other->ready_warps != 0;
         });
}

}  // namespace warpcheck::vgpu
