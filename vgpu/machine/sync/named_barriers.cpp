#include "vgpu/machine/sync/named_barriers.hpp"

#include <algorithm>
#include <bit>

namespace warpcheck::vgpu {

using Reason = BarrierDivergence::Reason;

void NamedBarriers::arrive(RunningFragment& run, std::size_t index, const Instr& instr,
                           std::uint32_t lanes) {
  Warp& warp = run.warp;
  const auto first = static_cast<unsigned>(std::countr_zero(lanes));
  const auto operand = [&](BarrierOperand name, unsigned lane) {
    return instr[name].bank == Bank::none ? 0 : word_of(run.banks, instr[name], lane);
  };
  std::uint32_t number = operand(BarrierOperand::number, first);
  std::uint32_t count = operand(BarrierOperand::threads, first);
  std::uint32_t same = 0;
  for (std::uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    if (operand(BarrierOperand::number, lane) == number &&
        operand(BarrierOperand::threads, lane) == count)
      same |= 1u << lane;
  }
  if (same != lanes) warp.fragments.split(index, lanes & ~same);
  if (number >= run.slot.barriers.size()) {
    launch_.report_misuse(run, first, Reason::bad_number);
    number %= static_cast<std::uint32_t>(run.slot.barriers.size());
  }
  const bool is_counted = instr[BarrierOperand::threads].bank != Bank::none;
  if (is_counted && (count == 0 || count % kWarpLanes != 0)) {
    launch_.report_misuse(run, first, Reason::bad_count);
    count = std::max(1u, (count + kWarpLanes - 1) / kWarpLanes) * kWarpLanes;
  }
  NamedBarrier& barrier = run.slot.barriers[number];
  check_use(run, instr, barrier, first, count);
  Fragment& fragment = warp.fragments[index];
  fragment.state = Fragment::State::at_barrier;
  fragment.barrier = number;
  auto arrival = std::ranges::find_if(barrier.arrivals, [&](const NamedBarrier::Arrival& other) {
    return other.warp == warp.index && !other.complete;
  });
  if (arrival == barrier.arrivals.end()) {
    arrival = barrier.arrivals.insert(arrival, {.warp = warp.index});
  }
  arrival->lanes |= same;
  if (!instr.modifiers.arrive) {
    arrival->waiting |= same;
  } else {  // the lanes' later actions come after the arrival
    const WarpLanes party{warp.index, same};
    const Meeting early{&launch_.program(),
                        {run.slot.block, number, run.slot.index, run.slot.phase},
                        {&party, 1},
                        {}};
    launch_.notify([&](Observer& observer) { observer.on_meeting(early); });
  }
  count_arrival(run.slot, warp, number);
}

// The first thread that arrives determines the use of a barrier; the others must agree.
void NamedBarriers::check_use(RunningFragment& run, const Instr& instr, NamedBarrier& barrier,
                              unsigned lane, std::uint32_t count) {
  if (barrier.arrivals.empty()) {
    barrier.count = count;
    barrier.reduces = instr.modifiers.red;
    barrier.misused = false;
    barrier.first_pc = run.pc;
    barrier.first_warp = run.warp.index;
    barrier.first_lane = lane;
    return;
  }
  if (barrier.misused) return;
  const bool other_use = barrier.reduces != instr.modifiers.red;
  const auto threads = [&](std::uint32_t named) {
    return named == 0 ? launch_.warps_per_block() * kWarpLanes : named;
  };
  if (threads(barrier.count) == threads(count) && !other_use) return;
  barrier.misused = true;
  BarrierDivergence divergence;
  divergence.reason = other_use ? Reason::different_uses : Reason::different_counts;
  divergence.program = &launch_.program();
  divergence.place = launch_.place_of(run.slot, run.slot.warps[barrier.first_warp]);
  divergence.pc = barrier.first_pc;
  divergence.lane = barrier.first_lane;
  divergence.other_pc = run.pc;
  divergence.other_warp = run.warp.index;
  divergence.other_lane = lane;
  launch_.notify([&](Observer& observer) { observer.on_barrier_divergence(divergence); });
}

// Counts a warp's arrival when all its threads have arrived.  If the barrier then completes, its
// threads continue.
void NamedBarriers::count_arrival(Slot& slot, Warp& warp, std::uint32_t number) {
  NamedBarrier& barrier = slot.barriers[number];
  const auto arrival =
      std::ranges::find_if(barrier.arrivals, [&](const NamedBarrier::Arrival& other) {
        return other.warp == warp.index && !other.complete;
      });
  if (arrival == barrier.arrivals.end() || (warp.live & ~arrival->lanes) != 0) return;
  arrival->complete = true;
  for (Fragment& fragment : warp.fragments) {
    const bool is_here =
        fragment.state == Fragment::State::at_barrier && fragment.barrier == number;
    if (!is_here || !launch_.program().code[fragment.pc].modifiers.arrive) continue;
    fragment.resume();
  }
  if (is_complete(slot, barrier)) complete(slot, number);
}

bool NamedBarriers::is_complete(const Slot& slot, const NamedBarrier& barrier) const {
  std::uint32_t arrived = 0, warps = 0;
  for (const NamedBarrier::Arrival& arrival : barrier.arrivals) {
    if (!arrival.complete) continue;
    arrived += kWarpLanes;
    warps |= 1u << arrival.warp;
  }
  if (barrier.count != 0) return arrived >= barrier.count;
  for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
    if (slot.warps[index].live != 0 && (warps >> index & 1u) == 0) return false;
  }
  return warps != 0;
}

void NamedBarriers::complete(Slot& slot, std::uint32_t number) {
  NamedBarrier& barrier = slot.barriers[number];
  const std::vector<NamedBarrier::Arrival> arrivals = std::move(barrier.arrivals);
  barrier.arrivals.clear();
  const std::vector<BlockBarriers::Waiter> waiters = block_barriers_.waiters_of(slot, number);
  std::uint32_t waiting = 0;
  for (const auto& [warp, fragment] : waiters) {
    waiting += static_cast<std::uint32_t>(std::popcount(fragment->mask));
  }
  std::vector<WarpLanes> arrived, released;
  for (const NamedBarrier::Arrival& arrival : arrivals) {
    arrived.push_back({arrival.warp, arrival.lanes});
    if (arrival.waiting != 0) released.push_back({arrival.warp, arrival.waiting});
  }
  const bool is_passed_by =
      block_barriers_.report_passed_by(slot, waiters, barrier.count == 0 ? nullptr : &arrived);
  // Threads that have exited count only for barriers of all threads.
  if (waiting == slot.live_lanes && (barrier.count == 0 || waiting == launch_.threads())) {
    if (barrier.count == 0 && !barrier.misused) {
      block_barriers_.report_divergence(slot, is_passed_by);
    }
    return block_barriers_.release(slot);
  }
  launch_.note_last();
  block_barriers_.reduce(waiters);
  for (const auto& [warp, fragment] : waiters) {
    fragment->resume();
    slot.ready_warps |= 1u << warp->index;
  }
  if (released.empty()) return;
  const Meeting meeting{
      &launch_.program(), {slot.block, number, slot.index, slot.phase}, arrived, released};
  launch_.notify([&](Observer& observer) { observer.on_meeting(meeting); });
}

void NamedBarriers::recount(Slot& slot) {
  if (slot.live_lanes == 0) return;
  for (std::uint32_t number = 0; number < slot.barriers.size(); ++number) {
    NamedBarrier& barrier = slot.barriers[number];
    if (barrier.arrivals.empty()) continue;
    for (std::uint32_t index = 0; index < launch_.warps_per_block(); ++index) {
      if (slot.warps[index].live != 0) count_arrival(slot, slot.warps[index], number);
    }
    if (!barrier.arrivals.empty() && is_complete(slot, barrier)) complete(slot, number);
  }
}

bool NamedBarriers::release_stuck(Slot& slot) {
  bool all_whole = true;
  for (std::uint32_t number = 0; number < slot.barriers.size(); ++number) {
    const NamedBarrier& barrier = slot.barriers[number];
    if (barrier.arrivals.empty()) continue;
    if (barrier.misused) {
      complete(slot, number);
      if (slot.ready_warps != 0) return true;
    }
    all_whole &= barrier.count == 0;
  }
  if (!all_whole || !block_barriers_.report_divergence(slot)) return false;
  for (NamedBarrier& barrier : slot.barriers) barrier.arrivals.clear();
  block_barriers_.release(slot);
  return true;
}

}  // namespace warpcheck::vgpu
