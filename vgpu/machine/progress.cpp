// Threads that do not get on: who waits where, and for what.
//
// Warp operations, barriers and mbarriers are of one block, so a block of which no thread can go on
// never will: that is found at once.  What spins is found by the step limit; then a few more rounds
// of every warp, which no observer sees, tell what each reads again and again.
#include <algorithm>
#include <bit>

#include "vgpu/machine/core.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kStepsWatched = 512;  // of one fragment: a round of any loop that polls
constexpr std::size_t kWarpsWatched = 64;

// What each lane of a warp read last; polls are mostly strong or atomic, so such a read counts
// before weak ones.
class Reads final : public Observer {
 public:
  struct Read {
    std::uint32_t pc = ptx::kNone;
    const Allocation* allocation = nullptr;
    std::uint32_t offset = 0, bytes = 0;
    std::uint64_t value = 0;
    bool is_strong = false;
  };

  void on_access(Access& access) override {
    if (access.kind == AccessKind::write || access.space == ptx::Space::local) return;
    const bool is_strong = access.kind == AccessKind::atomic || access.order != ptx::Order::weak;
    for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(std::countr_zero(rest));
      Read& read = last[lane];
      if (read.is_strong && !is_strong) continue;
      read = {access.pc, access.allocation, access.offset[lane], access.bytes, 0, is_strong};
      std::memcpy(&read.value, access.allocation->data + read.offset,
                  std::min<std::size_t>(access.bytes, sizeof read.value));
    }
  }

  std::array<Read, kWarpLanes> last;
};

}  // namespace

// Lets threads of a block in which nothing can run go on, if what holds them up is misuse that can
// be reported.  False: it is a deadlock, and is reported.
bool Core::unblock(Slot& slot) {
  if (release_stuck_meeting(slot)) return true;
  if (program_->has_named_barriers && release_stuck_barriers(slot)) return true;
  std::vector<Waiting> waiting;
  list_waiting(slot, waiting);
  for (Slot* other : resident_) {
    const bool is_beside = other != &slot && other->cluster == slot.cluster;
    if (!is_beside || other->ready_warps != 0) continue;
    if (release_stuck_meeting(*other)) return true;
    if (program_->has_named_barriers && release_stuck_barriers(*other)) return true;
    list_waiting(*other, waiting);
  }
  const Deadlock deadlock{program_, waiting, slot.exit_pc, slot.exit_warp, slot.exit_lane};
  notify([&](Observer& observer) { observer.on_deadlock(deadlock); });
  return false;
}

void Core::list_waiting(const Slot& slot, std::vector<Waiting>& waiting) const {
  for (std::uint32_t index = 0; index < warps_per_block_; ++index) {
    const Warp& warp = slot.warps[index];
    for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
      const Fragment& fragment = warp.fragments[i];
      Waiting one;
      one.place = place_of(slot, warp);
      one.pc = fragment.pc;
      one.lanes = fragment.mask;
      if (fragment.state == Fragment::State::at_barrier) {
        const NamedBarrier& barrier = slot.barriers[fragment.barrier];
        one.number = fragment.barrier;
        one.arrived = slot.waiting_lanes;
        one.expected = slot.live_lanes;
        if (program_->has_named_barriers) {
          one.arrived = 0;
          for (const NamedBarrier::Arrival& arrival : barrier.arrivals) {
            one.arrived += arrival.complete
                               ? kWarpLanes
                               : static_cast<std::uint32_t>(std::popcount(arrival.lanes));
          }
          if (barrier.count != 0) one.expected = barrier.count;
        }
      } else if (fragment.state == Fragment::State::at_cluster_barrier) {
        const ClusterState& cluster = clusters_.at(slot.cluster);
        one.kind = Waiting::Kind::cluster;
        one.arrived = cluster.arrived_lanes;
        one.expected = cluster.live_lanes;
      } else if (fragment.state == Fragment::State::at_warp_operation) {
        one.kind = Waiting::Kind::members;
        one.missing = fragment.members & warp.live;
        for (const std::size_t here : fragments_beside(warp, i)) {
          one.missing &= ~warp.fragments[here].mask;
        }
      } else {
        continue;
      }
      waiting.push_back(one);
    }
  }
}

// Runs a warp for a few rounds, unseen, and lists what its lanes read.
void Core::list_readers(Slot& slot, Warp& warp, std::vector<Waiting>& waiting) {
  Reads reads;
  Observer* const watched[] = {&reads};
  const Outcome before = outcome_;
  const auto observers = std::exchange(observers_, std::span<Observer* const>(watched));
  const auto access_observers = std::exchange(access_observers_, {&reads});
  const auto quantum = std::exchange(limits_.quantum, kStepsWatched);
  const bool want_edges = std::exchange(want_edges_, false);
  warp.ask_at = UINT64_MAX;
  warp.quantum_left = 0;
  for (std::size_t round = warp.fragments.size() + 1; round > 0; --round) {
    if (run_warp(slot, warp) != Stop::quantum) break;
  }
  std::uint32_t limit = 0;
  const std::size_t next = pick(warp, limit);
  for (std::size_t i = 0; i < warp.fragments.size(); ++i) {
    const Fragment& fragment = warp.fragments[i];
    if (fragment.state != Fragment::State::ready) continue;
    const Reads::Read& read = reads.last[static_cast<std::size_t>(std::countr_zero(fragment.mask))];
    Waiting one;
    one.kind = Waiting::Kind::reads;
    one.place = place_of(slot, warp);
    one.pc = read.allocation != nullptr ? read.pc : fragment.pc;
    one.lanes = fragment.mask;
    one.allocation = read.allocation;
    one.offset = read.offset;
    one.bytes = read.bytes;
    one.value = read.value;
    if (model_ == WarpModel::lockstep && i != next) {
      one.kind = Waiting::Kind::rejoin;
      one.pc = fragment.pc;
    }
    waiting.push_back(one);
  }
  observers_ = observers;
  access_observers_ = access_observers;
  limits_.quantum = quantum;
  want_edges_ = want_edges;
  outcome_ = before;
}

void Core::report_step_limit(const Slot& slot, const Warp& warp) {
  StepLimit limit;
  limit.program = program_;
  limit.place = place_of(slot, warp);
  if (!warp.fragments.empty()) {
    limit.pc = warp.fragments.front().pc;
    limit.lane = static_cast<unsigned>(std::countr_zero(warp.fragments.front().mask));
  }
  limit.steps = outcome_.steps;
  limit.blocks_not_started = block_count_ - next_block_;
  std::vector<Waiting> waiting;
  for (const Slot* resident : resident_) list_waiting(*resident, waiting);
  std::size_t watched = 0;
  for (Slot* resident : resident_) {
    const std::uint32_t ready = resident->ready_warps;
    for (std::uint32_t rest = ready; rest != 0 && watched < kWarpsWatched; rest &= rest - 1) {
      list_readers(*resident, resident->warps[static_cast<std::size_t>(std::countr_zero(rest))],
                   waiting);
      ++watched;
    }
  }
  std::ranges::stable_sort(waiting, {}, [](const Waiting& one) {
    return WarpId{one.place.block, one.place.warp};
  });
  limit.waiting = waiting;
  notify([&](Observer& observer) { observer.on_step_limit(limit); });
}

}  // namespace warpcheck::vgpu
