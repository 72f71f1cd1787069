#include "vgpu/check/order/threads.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "vgpu/check/order/agents.hpp"

namespace warpcheck::vgpu {

void Threads::reset(bool lockstep) {
  lockstep_ = lockstep;
  slots_.clear();
}

void Threads::begin_launch(std::uint32_t threads) {
  threads_ = threads;
  slots_.clear();
}

Threads::OfLaunch Threads::suspend() {
  end_segments();
  return {threads_, std::move(slots_)};
}

void Threads::resume(OfLaunch launch) {
  threads_ = launch.threads;
  slots_ = std::move(launch.slots);
}

void Threads::begin_block(const WarpPlace& place, SegmentId first_segment,
                          const VectorClock& known) {
  if (place.slot >= slots_.size()) slots_.resize(place.slot + 1);
  Slot& slot = slots_[place.slot];
  slot.block = place.block;
  slot.warps.resize(warps());
  slot.phase = place.phase;
  slot.first_segment = first_segment;
  slot.alike = true;
  slot.common = known;
  for (Warp& warp : slot.warps) warp.begin(known);
}

void Threads::complete_barrier(const WarpPlace& place) {
  Slot& slot = slots_[place.slot];
  ++slot.phase;
  if (!slot.alike) {
    const BlockKey block = launches_.block_key(place);
    const std::vector<ThreadTime> copies = take_awaited(slot);
    for_each_lane(place, [&](const ThreadState& lane) { slot.common.join(lane.knows); });
    if (!copies.empty()) slot.common.learn(block, 0, copies);
    // The new phase of the block includes what was known of its single threads.
    if (!slot.common.of_block(block).threads.empty()) slot.common.learn(block, slot.phase, {});
    slot.alike = true;
    for (Warp& warp : slot.warps) {
      warp.for_each([&](ThreadState& lane) { lane.knows = slot.common; });
    }
  }
  for (Warp& warp : slot.warps) {
    warp.segment = {};
    warp.has_acted = false;
  }
}

Moment Threads::release(const WarpPlace& place, ThreadState& self) {
  changed(place);
  ++self.tick;
  return {self.knows, phase_of(place), self.tick, true};
}

void Threads::learn(const WarpPlace& place, unsigned lane, const VectorClock& clock) {
  const VectorClock& before = at(place, lane).knows;
  VectorClock joined = before;
  joined.join(clock);
  if (!joined.is_same(before)) learn_all(place, own(place, lane), std::move(joined));
}

void Threads::learn(const WarpPlace& place, ThreadState& self, const VectorClock& clock) {
  VectorClock joined = self.knows;
  joined.join(clock);
  if (!joined.is_same(self.knows)) learn_all(place, self, std::move(joined));
}

void Threads::learn_all(const WarpPlace& place, ThreadState& self, VectorClock joined) {
  self.knows = std::move(joined);
  slots_[place.slot].alike = false;
  changed(place);
}

// Mostly the lanes know the same, so their clocks are joined once.
void Threads::learn_together(const WarpPlace& place, std::uint32_t lanes,
                             const VectorClock& clock) {
  bool has_joined = false;
  VectorClock before, joined;
  for_each_actor(place, lanes, [&](ThreadState& self) {
    if (!has_joined || !self.knows.is_same(before)) {
      before = joined = self.knows;
      joined.join(clock);
      has_joined = true;
    }
    if (joined.is_same(before)) return;
    self.knows = joined;
    slots_[place.slot].alike = false;
    changed(place);
  });
}

void Threads::tell_each_other(const WarpPlace& place, std::uint32_t lanes) {
  Slot& slot = slots_[place.slot];
  Warp& warp = slot.warps[place.warp];
  ThreadState& self = warp.common;
  warp.met_at = ++self.tick;
  const ThreadTime own{thread_at(place, 0), self.tick, slot.phase,
                       static_cast<std::uint32_t>(std::popcount(lanes))};
  self.knows.learn(launches_.block_key(place), slot.phase, {&own, 1});
  slot.alike = false;
  changed(place);
}

VectorClock Threads::knowledge_of_block(const WarpPlace& place) const {
  VectorClock all;
  const VectorClock* last = nullptr;
  for_each_lane(place, [&](const ThreadState& lane) {
    if (last == nullptr || !last->is_same(lane.knows)) all.join(lane.knows);
    last = &lane.knows;
  });
  return all;
}

bool Threads::await_copies_together(const WarpPlace& place, std::uint32_t lanes,
                                    std::size_t groups_left) {
  Slot& slot = slots_[place.slot];
  Warp& warp = slot.warps[place.warp];
  const std::uint32_t all = lanes_of(place.warp);
  if (lockstep_ || warp.each != nullptr || (lanes & all) != all) return false;
  const std::vector<Tick>& groups = warp.common.groups;
  if (groups.size() <= groups_left) return true;
  const Tick end = groups[groups.size() - groups_left - 1];
  if (end <= warp.awaited_before) return true;
  warp.awaited_before = end;
  warp.awaited = {launches_.block_key(place), place.warp * kWarpLanes, all, end};
  slot.alike = false;
  changed(place);
  return true;
}

void Threads::Warp::begin(const VectorClock& known) {
  common.begin(known);
  each.reset();
  awaited = {};
  awaited_before = met_at = 0;
  segment = {};
  has_acted = false;
}

void Threads::Warp::put_down_awaited() const {
  const AwaitedCopies copies = std::exchange(awaited, {});
  part();
  for_each_bit(copies.lanes, [&](unsigned lane) {
    const ThreadTime done{agents::kCopier + copies.first_thread + lane, copies.end, kAnyPhase};
    VectorClock clock;
    clock.learn(copies.block, 0, {&done, 1});
    (*each)[lane].knows.join(clock);
  });
}

// Takes the copies that warps of the block have waited for and whose knowledge is not written yet;
// ascending.
std::vector<ThreadTime> Threads::take_awaited(Slot& slot) {
  std::vector<ThreadTime> copies;
  for (Warp& warp : slot.warps) {
    const AwaitedCopies awaited = std::exchange(warp.awaited, {});
    if (awaited.end == 0) continue;
    for_each_bit(awaited.lanes, [&](unsigned lane) {
      copies.push_back({agents::kCopier + awaited.first_thread + lane, awaited.end, kAnyPhase});
    });
  }
  return copies;
}

// A warp whose lanes have waited together but that has not been asked about them keeps one state.
Segments::Ticks Threads::ticks_of(const WarpPlace& place, bool asynchronous) const {
  const Warp& warp = slots_[place.slot].warps[place.warp];
  const auto tick_of = [&](const ThreadState& lane) {
    return asynchronous ? lane.copier_tick : lane.tick;
  };
  Segments::Ticks ticks;
  if (warp.each == nullptr) {
    ticks.fill(tick_of(warp.common));
  } else {
    std::ranges::transform(*warp.each, ticks.begin(), tick_of);
  }
  return ticks;
}

}  // namespace warpcheck::vgpu
