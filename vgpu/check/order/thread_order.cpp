#include "vgpu/check/order/thread_order.hpp"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "vgpu/check/order/agents.hpp"
#include "vgpu/check/order/clocks/bits.hpp"

namespace warpcheck::vgpu {

void ThreadOrder::reset(WarpModel model) {
  launches_.reset();
  threads_.reset(model == WarpModel::lockstep);
  segments_.reset();
  forget_answers();
  known_to_launch_.clear();
  suspended_.clear();
}

// The table is large, and small trials never use it, so it is cleared only if it has answers.
void ThreadOrder::forget_answers() {
  if (!has_answers_ && !answers_.empty()) return;
  answers_.assign(kAnswers, {});
  has_answers_ = false;
}

void ThreadOrder::begin_launch(const LaunchShape& launch, std::span<const std::uint32_t> unordered,
                               std::uint32_t early_after) {
  launches_.begin(launch, unordered, early_after);
  threads_.begin_launch(static_cast<std::uint32_t>(launch.block.count()));
  const auto known = known_to_launch_.find(launch.launched_as);
  known_at_start_ = known == known_to_launch_.end() ? VectorClock{} : known->second;
}

void ThreadOrder::suspend() {
  suspended_[launches_.current()] = {threads_.suspend(), fences_.suspend(),
                                     std::move(known_at_start_), std::move(arrivals_)};
  arrivals_.clear();
  launches_.suspend();
}

void ThreadOrder::resume(std::uint32_t launch) {
  Suspended suspended = std::move(suspended_.at(launch));
  suspended_.erase(launch);
  threads_.resume(std::move(suspended.threads));
  fences_.resume(std::move(suspended.fences));
  known_at_start_ = std::move(suspended.known_at_start);
  arrivals_ = std::move(suspended.arrivals);
  launches_.resume(launch);
}

void ThreadOrder::begin_beside(std::span<const std::uint32_t> suspended) {
  std::erase_if(suspended_,
                [&](const auto& one) { return !std::ranges::binary_search(suspended, one.first); });
  launches_.begin_beside(suspended, segments_.count());
  if (suspended.empty()) copies_.begin_launch();
}

void ThreadOrder::learn_of(std::span<const std::uint32_t> launches) {
  if (launches.empty()) return;
  threads_.end_segments();
  for (const std::uint32_t launch : launches) launches_.learn_of(launch, segments_.count());
}

void ThreadOrder::begin_block(const WarpPlace& place) {
  const std::uint32_t before = threads_.block_in(place.slot);
  if (before != Threads::kNoBlock) launches_.end_block(before);
  launches_.early().begin_block(place.slot);
  threads_.begin_block(place, segments_.count(), known_at_start_);
  fences_.begin_block(place);
  if (place.slot >= arrivals_.size()) arrivals_.resize(place.slot + 1);
  arrivals_[place.slot].clear();
}

void ThreadOrder::launch_from(const DeviceLaunch& event) {
  const Moment moment = threads_.release(event.place, event.lane);
  known_to_launch_[event.number] = threads_.clock_of(moment, event.place, event.lane);
}

void ThreadOrder::complete_barrier(const WarpPlace& place) {
  threads_.complete_barrier(place);
  fences_.complete_barrier(place);
}

void ThreadOrder::control_grids(const Fence& fence) {
  const std::size_t slot = fence.place.slot;
  EarlyLaunches& early = launches_.early();
  if (early.before() == ptx::kNone) {
    if (fence.lets_grid_begin) early.let_next_begin(slot, true);
    return;
  }
  if (fence.waits_for_grid) {
    VectorClock clock;
    clock.learn(launches_.waited_for(), 1, {});
    threads_.for_each_actor(fence.place, fence.mask,
                            [&](ThreadState& self) { threads_.learn(fence.place, self, clock); });
    return early.wait(slot);
  }
  threads_.for_each_actor(fence.place, fence.mask, [&](ThreadState& self) {
    early.let_next_begin(slot, self.knows.of_block(launches_.waited_for()).phases != 0);
  });
}

void ThreadOrder::meet(const Meeting& meeting) {
  WarpPlace place = meeting.place;
  if (meeting.released.empty()) {
    for (const WarpLanes& of_warp : meeting.arrived) {
      place.warp = of_warp.warp;
      arrive(meeting, place, threads_.actors_of(of_warp.lanes));
    }
    return;
  }
  FenceOrder::Told fences;
  const bool has_sc = fences_.has_sc(place);
  if (!has_sc && is_of_one_warp(meeting)) {
    place.warp = meeting.arrived[0].warp;
    return threads_.tell_each_other(place, threads_.actors_of(meeting.arrived[0].lanes));
  }
  Told all;
  for (const WarpLanes& of_warp : meeting.arrived) {
    place.warp = of_warp.warp;
    const std::uint32_t lanes = threads_.actors_of(of_warp.lanes);
    if (has_sc && arrivals_[place.slot].empty()) fences_.gather(place, lanes, fences);
    gather(meeting, place, lanes, all);
  }
  arrange(all.times);
  all.common.learn(launches_.block_key(place), threads_.phase_of(place), all.times);
  for (const WarpLanes& of_warp : meeting.released) {
    place.warp = of_warp.warp;
    threads_.learn_together(place, of_warp.lanes, all.common);
    if (has_sc) fences_.hand_on(place, of_warp.lanes, fences);
  }
}

// Returns whether the lanes of one warp meet, all of them, and all have done the same.
bool ThreadOrder::is_of_one_warp(const Meeting& meeting) const {
  if (meeting.arrived.size() != 1 || meeting.released.size() != 1) return false;
  const WarpLanes &arrived = meeting.arrived[0], &released = meeting.released[0];
  WarpPlace place = meeting.place;
  place.warp = arrived.warp;
  return arrived.warp == released.warp && arrived.lanes == released.lanes &&
         arrivals_[place.slot].empty() && threads_.are_alike(place, arrived.lanes);
}

// Some lanes of a warp arrive at a barrier that is not complete.
void ThreadOrder::arrive(const Meeting& meeting, const WarpPlace& place, std::uint32_t lanes) {
  Arrivals& arrivals = arrivals_[place.slot];
  for_each_bit(lanes, [&](unsigned lane) {
    arrivals[{meeting.place.warp, threads_.thread_at(place, lane)}].push_back(
        threads_.release(place, lane));
  });
}

// Adds what some lanes of a warp tell at a barrier that is complete: all that they know now, or, if
// they only arrived, all that they knew then.
void ThreadOrder::gather(const Meeting& meeting, const WarpPlace& place, std::uint32_t lanes,
                         Told& all) {
  Arrivals& arrivals = arrivals_[place.slot];
  const auto add = [&](unsigned lane, const Moment& moment) {
    all.times.push_back({threads_.thread_at(place, lane), moment.ticks, moment.phase});
  };
  if (arrivals.empty() && threads_.are_alike(place, lanes)) {
    threads_.for_each_actor(place, lanes, [&](ThreadState& self) {
      const Moment moment = threads_.release(place, self);
      all.common.join(moment.knows);
      const auto count = static_cast<std::uint32_t>(std::popcount(lanes));
      all.times.push_back({threads_.thread_at(place, 0), moment.ticks, moment.phase, count});
    });
    return;
  }
  VectorClock last;
  const auto waits = [&](unsigned lane) {
    return std::ranges::any_of(meeting.released, [&](const WarpLanes& of_warp) {
      return of_warp.warp == place.warp &&
             (threads_.is_lockstep() || (of_warp.lanes >> lane & 1) != 0);
    });
  };
  for_each_bit(lanes, [&](unsigned lane) {
    const auto early = waits(lane)
                           ? arrivals.end()
                           : arrivals.find({meeting.place.warp, threads_.thread_at(place, lane)});
    const bool is_early = early != arrivals.end() && !early->second.empty();
    const Moment moment = is_early ? early->second.front() : threads_.release(place, lane);
    if (is_early) early->second.erase(early->second.begin());
    if (!last.is_same(moment.knows)) all.common.join(moment.knows);
    last = moment.knows;
    add(lane, moment);
  });
}

SegmentId ThreadOrder::segment_of(const WarpPlace& place, bool asynchronous) {
  SegmentId& id = threads_.segment_of(place, asynchronous, !asynchronous);
  return id != 0 ? id : begin_segment(id, place, asynchronous);
}

SegmentId ThreadOrder::present_segment(const WarpPlace& place) {
  SegmentId& id = threads_.segment_of(place, false, false);
  return id != 0 ? id : begin_segment(id, place, false);
}

SegmentId ThreadOrder::begin_segment(SegmentId& id, const WarpPlace& place, bool asynchronous) {
  id = segments_.count();
  Segment& segment = segments_.add();
  segment.block = segment.agent_block = launches_.block_key(place);
  segment.phase = threads_.phase_of(place);
  segment.launch = launches_.current();
  segment.warp = static_cast<std::uint16_t>(place.warp);
  segment.asynchronous = asynchronous;
  segment.agent = asynchronous ? agents::kCopier + place.warp * kWarpLanes : 0;
  if (const std::optional<Tick> tick = threads_.common_tick(place, asynchronous)) {
    segment.tick = *tick;
  } else {
    segments_.set_ticks(segment, threads_.ticks_of(place, asynchronous));
  }
  return id;
}

std::vector<SegmentId> ThreadOrder::forget_segments(std::vector<bool> live) {
  threads_.for_each_segment([&](SegmentId id) { live[id] = true; });
  std::vector<SegmentId> renewed = segments_.forget(std::move(live));
  threads_.for_each_segment([&](SegmentId& id) { id = renewed[id]; });
  threads_.renew_thresholds(renewed);
  for (auto& [launch, other] : suspended_) Threads::renew_thresholds(other.threads, renewed);
  launches_.renew_thresholds(renewed);
  forget_answers();
  return renewed;
}

// Returns the lanes of a segment whose part in it is known.
std::uint32_t ThreadOrder::known_lanes(const VectorClock::Knowledge& known,
                                       const Segment& segment) const {
  if (!segment.asynchronous && segment.phase < known.phases) return ~0u;
  if (known.threads.empty()) return 0;
  const std::uint32_t first = segment.asynchronous ? segment.agent : segment.warp * kWarpLanes;
  if (threads_.is_lockstep() || segment.is_object)
    return known.ticks_of(first) > segments_.tick_of(segment, 0) ? ~0u : 0;
  std::uint32_t lanes = 0;
  const auto begin = std::ranges::upper_bound(known.threads, first, {}, &ThreadTime::end);
  for (auto at = begin; at != known.threads.end() && at->thread < first + kWarpLanes; ++at) {
    const std::uint32_t end = std::min(at->end(), first + kWarpLanes) - first;
    const std::uint32_t begins = std::max(at->thread, first) - first;
    if (segment.ticks == 0) {
      if (at->ticks > segment.tick) lanes |= ~0u >> (kWarpLanes - end) & ~0u << begins;
      continue;
    }
    for (std::uint32_t lane = begins; lane < end; ++lane) {
      if (at->ticks > segments_.tick_of(segment, lane)) lanes |= 1u << lane;
    }
  }
  return lanes;
}

// Returns whether the segment's launch comes before the clock's owner because that has waited for
// it (griddepcontrol).
bool ThreadOrder::is_awaited(const VectorClock& clock, const Segment& segment) const {
  return launches_.early().is_open_at_start(segment.launch) &&
         !launches_.early().is_open_after_wait(segment.launch) &&
         clock.of_block(launches_.waited_for()).phases != 0;
}

// Returns the lanes of a segment whose part in it is known; at least those that are asked for.
std::uint32_t ThreadOrder::known_lanes(const VectorClock& clock, const Segment& segment,
                                       std::uint32_t asked) const {
  if (is_awaited(clock, segment)) return ~0u;
  if (!clock.is_computed()) {
    std::uint32_t known = 0;
    const bool is_answered = clock.visit_parts(segment.agent_block, [&](const auto& part) {
      known |= known_lanes(part, segment);
      return (asked & ~known) == 0;
    });
    if (is_answered) return known;
  }
  return known_lanes(clock.of_block(segment.agent_block), segment);
}

// If the lanes of the warp know different things, some_lanes may stand for another answer that
// takes long to find.
ThreadOrder::Before ThreadOrder::answer(SegmentId earlier, const WarpPlace& place) const {
  const Segment& segment = segments_.at(earlier);
  if (is_of_earlier_launch(segment.launch, earlier)) return Before::all_lanes;
  const bool one_block = segment.block == launches_.block_key(place);
  const bool one_warp = one_block && segment.warp == place.warp && !segment.asynchronous;
  if (one_block && !segment.asynchronous && segment.phase < threads_.phase_of(place))
    return Before::all_lanes;
  if (one_warp && threads_.is_lockstep()) return Before::all_lanes;
  if (one_warp && segment.ticks == 0 && segment.tick < threads_.met_at(place)) {
    return Before::all_lanes;
  }
  // Lanes without a thread have done nothing, and know nothing.
  const bool is_now = segment.launch == launches_.current() && !segment.asynchronous;
  const std::uint32_t absent = is_now ? ~threads_.lanes_of(segment.warp) : 0;
  const std::uint32_t present = threads_.lanes_of(place.warp);
  std::uint32_t known_to_all = ~0u, known_to_some = one_warp ? ~0u : 0;
  const VectorClock* last = nullptr;
  bool are_alike = true, are_computed = true;
  const auto add = [&](const VectorClock& clock) {
    const std::uint32_t known = known_lanes(clock, segment, ~absent);
    known_to_all &= known | absent;
    known_to_some |= known;
  };
  unsigned number = 0;
  threads_.for_each_lane_of_warp(place, [&](const ThreadState& lane) {
    if ((present >> number++ & 1) == 0) return;
    if (last != nullptr && last->is_same(lane.knows)) return;
    are_alike &= last == nullptr;
    last = &lane.knows;
    are_computed &= last->is_computed();
    if (last->is_computed()) add(*last);
  });
  if (!are_computed && !are_alike) return Before::some_lanes;
  if (!are_computed) add(*last);
  if (known_to_all == ~0u) return Before::all_lanes;
  return known_to_some == 0 ? Before::no_lane : Before::some_lanes;
}

ThreadOrder::Before ThreadOrder::before(SegmentId earlier, SegmentId now, const WarpPlace& place) {
  Answer& known = answers_[(earlier * 0x9e3779b1u + now) % kAnswers];
  if (known.earlier != earlier || known.now != now) {
    known = {earlier, now, answer(earlier, place)};
    has_answers_ = true;
  }
  return known.before;
}

bool ThreadOrder::knows(const VectorClock& clock, SegmentId earlier, unsigned earlier_lane) const {
  const Segment& segment = segments_.at(earlier);
  return (known_lanes(clock, segment, 1u << earlier_lane) >> earlier_lane & 1) != 0;
}

bool ThreadOrder::before(SegmentId earlier, unsigned earlier_lane, const WarpPlace& place,
                         unsigned lane) const {
  const Segment& segment = segments_.at(earlier);
  if (is_of_earlier_launch(segment.launch, earlier)) return true;
  if (segment.block == launches_.block_key(place) && !segment.asynchronous) {
    if (segment.phase < threads_.phase_of(place)) return true;
    if (segment.warp == place.warp && threads_.actor_of(earlier_lane) == threads_.actor_of(lane))
      return true;
  }
  return knows(threads_.at(place, lane).knows, earlier, earlier_lane);
}

}  // namespace warpcheck::vgpu
