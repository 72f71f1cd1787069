#include "vgpu/check/order/thread_order.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "vgpu/check/order/bits.hpp"

namespace warpcheck::vgpu {
namespace {

bool acquires(ptx::Order order) { return order != ptx::Order::release; }
bool releases(ptx::Order order) { return order != ptx::Order::acquire; }

}  // namespace

void ThreadOrder::Lane::observe(std::uint64_t variable, std::uint64_t chain,
                                const ReleasedClocks& released_clocks) {
  if (seen.size() > folded && seen.back().chain == chain) {
    seen.back().released_clocks = released_clocks;
    return;
  }
  seen.push_back({variable, chain, released_clocks});
  if (seen.size() >= compact_at) compact();
}

void ThreadOrder::Lane::fold() {
  for (; folded < seen.size(); ++folded) observed.join(seen[folded].released_clocks);
}

// Merges the entries so that each variable has one.
void ThreadOrder::Lane::compact() {
  fold();
  std::ranges::stable_sort(seen, {}, &Seen::variable);
  std::vector<Seen> compacted;
  for (Seen& next : seen) {
    if (compacted.empty() || compacted.back().variable != next.variable) {
      compacted.push_back(std::move(next));
      continue;
    }
    Seen& last = compacted.back();
    if (last.chain != next.chain) last.chain = 0;
    last.released_clocks.join(next.released_clocks);
  }
  seen = std::move(compacted);
  folded = seen.size();
  compact_at = 32 + 2 * seen.size();
}

VectorClock ThreadOrder::Lane::all_observed() const {
  VectorClock all = observed.grid;
  for (std::size_t i = folded; i < seen.size(); ++i) all.join(seen[i].released_clocks.grid);
  return all;
}

void ThreadOrder::reset(WarpModel model) {
  lockstep_ = model == WarpModel::lockstep;
  launches_ = 0;
  next_first_block_ = 0;
  slots_.clear();
  segments_.assign(1, {});
  ticks_.assign(1, {});
  forget_answers();
  past_.clear();
  starts_.clear();
  known_to_launch_.clear();
  early_.clear();
  last_agent_ = 0;
}

// The table is large, and small trials never use it, so it is cleared only if it has answers.
void ThreadOrder::forget_answers() {
  if (!has_answers_ && !answers_.empty()) return;
  answers_.assign(kAnswers, {});
  has_answers_ = false;
}

void ThreadOrder::begin_launch(const LaunchShape& launch, std::span<const std::uint32_t> unordered,
                               std::uint32_t early_after) {
  launch_ = launches_++;
  devices_ = launch.devices;
  if (has_devices()) starts_.push_back({next_first_block_, launch.device});
  first_block_ = next_first_block_;
  next_first_block_ += launch.grid.count();
  early_.begin(launch_, early_after, launch.program);
  if (early_after != ptx::kNone) waited_for_ = next_first_block_++;
  threads_ = static_cast<std::uint32_t>(launch.block.count());
  warps_ = (threads_ + kWarpLanes - 1) / kWarpLanes;
  unordered_launches_.assign(unordered.begin(), unordered.end());
  unordered_launches_.insert(unordered_launches_.end(), early_.open_at_start().begin(),
                             early_.open_at_start().end());
  first_unordered_launch_ = launch_;
  for (const std::uint32_t earlier : unordered_launches_) {
    first_unordered_launch_ = std::min(first_unordered_launch_, earlier);
  }
  known_at_start_ = {};
  if (const auto known = known_to_launch_.find(launch.launched_as);
      known != known_to_launch_.end()) {
    known_at_start_ = known->second;
  }
  slots_.clear();
  ended_.assign(launch.grid.count(), false);
  grid_ = launch.grid;
  cluster_ = launch.cluster;
  bulk_groups_.clear();
  product_groups_.clear();
  object_ticks_.clear();
}

BlockKey ThreadOrder::cluster_of(BlockKey block) const {
  if (block < first_block_ || !has_clusters()) return block;
  const auto linear = static_cast<std::uint32_t>(block - first_block_);
  const Dim3 at{linear % grid_.x, linear / grid_.x % grid_.y, linear / grid_.x / grid_.y};
  const Dim3 first{at.x - at.x % cluster_.x, at.y - at.y % cluster_.y, at.z - at.z % cluster_.z};
  return first_block_ + first.x + grid_.x * (first.y + grid_.y * first.z);
}

unsigned ThreadOrder::device_of_block(BlockKey block) const {
  const auto after = std::ranges::upper_bound(starts_, block, {}, &Start::first_block);
  return std::prev(after)->device;
}

bool ThreadOrder::is_ordered_launch(std::uint32_t launch) const {
  return launch != launch_ &&
         std::ranges::find(unordered_launches_, launch) == unordered_launches_.end();
}

void ThreadOrder::begin_block(const WarpPlace& place) {
  if (place.slot >= slots_.size()) slots_.resize(place.slot + 1);
  Slot& slot = slots_[place.slot];
  if (slot.block != kNoBlock) ended_[slot.block] = true;
  slot.block = place.block;
  slot.warps.resize(warps_);
  slot.phase = place.phase;
  slot.first_segment = segments();
  early_.begin_block(place.slot);
  slot.arrivals.clear();
  slot.alike = true;
  slot.has_sc = false;
  slot.common = known_at_start_;
  for (Warp& warp : slot.warps) {
    warp = {};
    warp.common.knows = known_at_start_;
  }
}

void ThreadOrder::launch_from(const DeviceLaunch& event) {
  const Moment moment = release(event.place, event.lane);
  known_to_launch_[event.number] = clock_of(moment, event.place, event.lane);
}

// From now on, every thread of the block knows everything that any thread of it knows.
void ThreadOrder::complete_barrier(const WarpPlace& place) {
  Slot& slot = slots_[place.slot];
  ++slot.phase;
  if (!slot.alike) {
    const BlockKey block = block_key(place);
    const std::vector<ThreadTime> copies = take_awaited(slot);
    for_each_lane(place, [&](const Lane& lane) { slot.common.join(lane.knows); });
    if (!copies.empty()) slot.common.learn(block, 0, copies);
    // The new phase of the block includes what was known of its single threads.
    if (!slot.common.of_block(block).threads.empty()) slot.common.learn(block, slot.phase, {});
    slot.alike = true;
    for (Warp& warp : slot.warps) {
      warp.for_each([&](Lane& lane) { lane.knows = slot.common; });
    }
  }
  if (std::exchange(slot.has_sc, false)) {
    FencesOfMeeting all;
    WarpPlace at = place;
    for (at.warp = 0; at.warp < warps_; ++at.warp) gather_sc(at, lanes_of(at.warp), all);
    for (at.warp = 0; at.warp < warps_; ++at.warp) hand_on_sc(at, lanes_of(at.warp), all);
    slot.has_sc = false;
  }
  for (Warp& warp : slot.warps) warp.segment = {};
}

void ThreadOrder::gather_sc(const WarpPlace& place, std::uint32_t lanes,
                            FencesOfMeeting& all) const {
  for_each_bit(lockstep_ ? 1u : lanes, [&](unsigned lane) {
    const Lane& self = lane_at(place, lane);
    all.observed.join(self.sc_observed);
    all.fenced.join(self.fence.sc_of_others);
    if (!self.fence.sc.is_set) return;
    all.fenced.join(self.fence.sc.knows);
    all.times.push_back({thread_at(place, lane), self.fence.sc.ticks, self.fence.sc.phase});
    all.phase = std::max(all.phase, self.fence.sc.phase);
  });
}

void ThreadOrder::hand_on_sc(const WarpPlace& place, std::uint32_t lanes, FencesOfMeeting& all) {
  if (!all.times.empty()) {
    std::ranges::sort(all.times, {}, &ThreadTime::thread);
    all.fenced.learn(block_key(place), all.phase, all.times);
    all.times.clear();
  }
  if (all.fenced.is_empty() && all.observed.is_empty()) return;
  for_each_actor(place, lanes, [&](Lane& self) {
    self.fence.sc_of_others.join(all.fenced);
    self.sc_observed.join(all.observed);
  });
  slots_[place.slot].has_sc = true;
  changed(place);
}

void ThreadOrder::observe_sc(const WarpPlace& place, unsigned lane, const VectorClock& released) {
  own_lane(place, lane).sc_observed.join(released);
  slots_[place.slot].has_sc = true;
}

void ThreadOrder::changed(const WarpPlace& place) {
  slots_[place.slot].warps[place.warp].segment = {};
}

std::uint32_t ThreadOrder::lanes_of(std::uint32_t warp) const {
  const std::uint32_t others = threads_ - warp * kWarpLanes;
  return others < kWarpLanes ? (1u << others) - 1 : ~0u;
}

bool ThreadOrder::are_alike(const WarpPlace& place, std::uint32_t lanes) const {
  if (lockstep_) return true;
  const std::uint32_t all = lanes_of(place.warp);
  const Warp& warp = slots_[place.slot].warps[place.warp];
  warp.put_down();
  return warp.each == nullptr && (lanes & all) == all;
}

ThreadOrder::Moment ThreadOrder::release(const WarpPlace& place, unsigned lane) {
  return release(place, own_lane(place, lane));
}

ThreadOrder::Moment ThreadOrder::release(const WarpPlace& place, Lane& self) {
  changed(place);
  ++self.tick;
  return {self.knows, slots_[place.slot].phase, self.tick, true};
}

VectorClock ThreadOrder::clock_of(const Moment& moment, BlockKey block, std::uint32_t thread) {
  VectorClock clock = moment.knows;
  const ThreadTime own{thread, moment.ticks, moment.phase};
  clock.learn(block, moment.phase, {&own, 1});
  return clock;
}

void ThreadOrder::learn(const WarpPlace& place, unsigned lane, const VectorClock& clock) {
  VectorClock joined = lane_at(place, lane).knows;
  joined.join(clock);
  if (!joined.is_same(lane_at(place, lane).knows)) learn(place, own_lane(place, lane), joined);
}

void ThreadOrder::learn(const WarpPlace& place, Lane& self, const VectorClock& clock) {
  VectorClock joined = self.knows;
  joined.join(clock);
  if (joined.is_same(self.knows)) return;
  self.knows = std::move(joined);
  slots_[place.slot].alike = false;
  changed(place);
}

// PTX ISA 8.8: a fence ends the acquire patterns that the strong reads before it have begun, and
// begins release patterns with the strong writes after it.
void ThreadOrder::fence(const Fence& fence) {
  const Reach reach = reach_of(fence.scope);
  for_each_actor(fence.place, fence.mask, [&](Lane& self) {
    if (acquires(fence.order)) {
      self.fold();
      if (!self.observed.is_empty()) learn(fence.place, self, self.observed.at(reach));
      if (reach == Reach::grid) {
        self.observed = {};
        self.seen.clear();
        self.folded = 0;
      }
    }
    const bool is_sc = fence.order == ptx::Order::sc && reach == Reach::grid;
    if (is_sc && !self.sc_observed.is_empty()) learn(fence.place, self, self.sc_observed);
    if (!releases(fence.order)) return;
    const Moment moment = release(fence.place, self);
    for (const Reach near : kReaches) {
      if (near <= reach) self.fence[static_cast<std::size_t>(near)] = moment;
    }
    if (!is_sc) return;
    self.fence.sc = moment;
    slots_[fence.place.slot].has_sc = true;
  });
}

void ThreadOrder::control_grids(const Fence& fence) {
  const std::size_t slot = fence.place.slot;
  if (early_.before() == ptx::kNone) {
    if (fence.lets_grid_begin) early_.let_next_begin(slot, true);
    return;
  }
  if (fence.waits_for_grid) {
    VectorClock clock;
    clock.learn(waited_for_, 1, {});
    for_each_actor(fence.place, fence.mask, [&](Lane& self) { learn(fence.place, self, clock); });
    return early_.wait(slot);
  }
  for_each_actor(fence.place, fence.mask, [&](Lane& self) {
    early_.let_next_begin(slot, self.knows.of_block(waited_for_).phases != 0);
  });
}

void ThreadOrder::meet(const Meeting& meeting) {
  WarpPlace place = meeting.place;
  const std::uint32_t number = place.warp;
  auto& arrivals = slots_[place.slot].arrivals;
  const auto waits = [&](std::uint32_t warp, unsigned lane) {
    return std::ranges::any_of(meeting.released, [&](const WarpLanes& of_warp) {
      return of_warp.warp == warp && (lockstep_ || (of_warp.lanes >> lane & 1) != 0);
    });
  };
  VectorClock common;
  std::vector<ThreadTime> times;
  FencesOfMeeting fences;
  const bool has_sc = slots_[place.slot].has_sc;
  for (const WarpLanes& of_warp : meeting.arrived) {
    place.warp = of_warp.warp;
    const std::uint32_t lanes = lockstep_ ? 1u : of_warp.lanes;
    if (has_sc && arrivals.empty()) gather_sc(place, lanes, fences);
    if (!meeting.released.empty() && arrivals.empty() && are_alike(place, lanes)) {
      const Moment moment = release(place, slots_[place.slot].warps[place.warp].common);
      common.join(moment.knows);
      for_each_bit(lanes, [&](unsigned lane) {
        times.push_back({thread_at(place, lane), moment.ticks, moment.phase});
      });
      continue;
    }
    for_each_bit(lanes, [&](unsigned lane) {
      const std::pair key{number, thread_at(place, lane)};
      if (meeting.released.empty()) {
        arrivals[key].push_back(release(place, lane));
        return;
      }
      const auto early = waits(place.warp, lane) ? arrivals.end() : arrivals.find(key);
      const bool is_early = early != arrivals.end() && !early->second.empty();
      const Moment moment = is_early ? early->second.front() : release(place, lane);
      if (is_early) early->second.erase(early->second.begin());
      common.join(moment.knows);
      times.push_back({thread_at(place, lane), moment.ticks, moment.phase});
    });
  }
  if (meeting.released.empty()) return;
  std::ranges::sort(times, {}, &ThreadTime::thread);
  common.learn(block_key(place), slots_[place.slot].phase, times);
  for (const WarpLanes& of_warp : meeting.released) {
    place.warp = of_warp.warp;
    for_each_actor(place, of_warp.lanes, [&](Lane& self) { learn(place, self, common); });
    if (has_sc) hand_on_sc(place, of_warp.lanes, fences);
  }
}

ThreadOrder::SegmentId ThreadOrder::segment_of(const WarpPlace& place, bool asynchronous) {
  Slot& slot = slots_[place.slot];
  Warp& warp = slot.warps[place.warp];
  SegmentId& id = warp.segment[asynchronous ? 1 : 0];
  if (id != 0) return id;
  Segment segment;
  segment.block = block_key(place);
  segment.phase = slot.phase;
  segment.launch = launch_;
  segment.warp = static_cast<std::uint16_t>(place.warp);
  segment.asynchronous = asynchronous;
  segment.agent = asynchronous ? kCopier + place.warp * kWarpLanes : 0;
  segment.agent_block = segment.block;
  const auto tick_of = [&](const Lane& lane) {
    return asynchronous ? lane.copier_tick : lane.tick;
  };
  Ticks ticks;
  if (warp.each == nullptr) {
    ticks.fill(tick_of(warp.common));
  } else {
    std::ranges::transform(*warp.each, ticks.begin(), tick_of);
  }
  segment.ticks = row_of_ticks(ticks);
  id = segments();
  segments_.push_back(segment);
  return id;
}

// Mostly the ticks equal those of the segment before.
std::uint32_t ThreadOrder::row_of_ticks(const Ticks& ticks) {
  if (ticks == Ticks{}) return 0;
  if (ticks_.back() != ticks) ticks_.push_back(ticks);
  return static_cast<std::uint32_t>(ticks_.size() - 1);
}

// Reuses the latest segment of an agent if it equals the new one.
ThreadOrder::SegmentId ThreadOrder::segment_of_agent(const Segment& segment, const Ticks& ticks) {
  const Segment& last = segments_[last_agent_];
  const bool is_same = last_agent_ != 0 && last.block == segment.block &&
                       last.launch == segment.launch && last.warp == segment.warp &&
                       last.async_proxy == segment.async_proxy && last.agent == segment.agent &&
                       last.agent_block == segment.agent_block && ticks_[last.ticks] == ticks;
  if (is_same) return last_agent_;
  last_agent_ = segments();
  segments_.push_back(segment);
  segments_.back().ticks = row_of_ticks(ticks);
  return last_agent_;
}

ThreadOrder::SegmentId ThreadOrder::segment_of_group(const WarpPlace& place, bool reads) {
  return segment_of_groups(place, reads ? kBulkReads : kBulkWrites, bulk_groups_);
}

ThreadOrder::SegmentId ThreadOrder::segment_of_products(const WarpPlace& place) {
  return segment_of_groups(place, kProducts, product_groups_);
}

ThreadOrder::SegmentId ThreadOrder::segment_of_groups(const WarpPlace& place, std::uint32_t agent,
                                                      const GroupsOfThreads& groups_of) {
  Segment segment;
  segment.block = segment.agent_block = block_key(place);
  segment.phase = slots_[place.slot].phase;
  segment.launch = launch_;
  segment.warp = static_cast<std::uint16_t>(place.warp);
  segment.asynchronous = segment.async_proxy = true;
  segment.agent = agent + place.warp * kWarpLanes;
  Ticks ticks;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const auto groups = groups_of.find(thread_key(place, lane));
    ticks[lane] = groups == groups_of.end() ? 0 : groups->second.tick;
  }
  return segment_of_agent(segment, ticks);
}

ThreadOrder::SegmentId ThreadOrder::segment_of_object(const WarpPlace& place, const Object& object,
                                                      bool async_proxy) {
  Segment segment;
  segment.block = block_key(place);
  segment.phase = slots_[place.slot].phase;
  segment.launch = launch_;
  segment.warp = static_cast<std::uint16_t>(place.warp);
  segment.asynchronous = segment.is_object = true;
  segment.async_proxy = async_proxy;
  segment.agent = kObject + object.offset;
  segment.agent_block = object.block;
  Ticks ticks;
  ticks.fill(object_ticks_[{object.block, object.offset}]);
  return segment_of_agent(segment, ticks);
}

VectorClock ThreadOrder::complete(const Object& object) {
  const ThreadTime done{kObject + object.offset, ++object_ticks_[{object.block, object.offset}],
                        kAnyPhase};
  VectorClock clock;
  clock.learn(object.block, 0, {&done, 1});
  return clock;
}

VectorClock ThreadOrder::knowledge_of_block(const WarpPlace& place) const {
  VectorClock all;
  const VectorClock* last = nullptr;
  for_each_lane(place, [&](const Lane& lane) {
    if (last == nullptr || !last->is_same(lane.knows)) all.join(lane.knows);
    last = &lane.knows;
  });
  return all;
}

ThreadOrder::SegmentId ThreadOrder::past_segment(std::uint32_t launch, BlockKey block,
                                                 std::uint32_t warp) {
  SegmentId& id = past_[{launch, block, warp}];
  if (id != 0) return id;
  Segment segment;
  segment.block = segment.agent_block = block;
  segment.launch = launch;
  segment.warp = static_cast<std::uint16_t>(warp);
  id = segments();
  segments_.push_back(segment);
  return id;
}

// Returns the lanes of a segment whose part in it is known.
std::uint32_t ThreadOrder::known_lanes(const VectorClock::Knowledge& known,
                                       const Segment& segment) const {
  if (!segment.asynchronous && segment.phase < known.phases) return ~0u;
  if (known.threads.empty()) return 0;
  const std::uint32_t first = segment.asynchronous ? segment.agent : segment.warp * kWarpLanes;
  const Ticks& ticks = ticks_[segment.ticks];
  if (lockstep_ || segment.is_object) return known.ticks_of(first) > ticks[0] ? ~0u : 0;
  std::uint32_t lanes = 0;
  const auto begin = std::ranges::lower_bound(known.threads, first, {}, &ThreadTime::thread);
  for (auto at = begin; at != known.threads.end() && at->thread < first + kWarpLanes; ++at) {
    if (at->ticks > ticks[at->thread - first]) lanes |= 1u << (at->thread - first);
  }
  return lanes;
}

std::uint32_t ThreadOrder::known_lanes(const VectorClock& clock, const Segment& segment) const {
  const bool is_awaited = early_.is_open_at_start(segment.launch) &&
                          !early_.is_open_after_wait(segment.launch) &&
                          clock.of_block(waited_for_).phases != 0;
  return is_awaited ? ~0u : known_lanes(clock.of_block(segment.agent_block), segment);
}

ThreadOrder::Before ThreadOrder::answer(SegmentId earlier, const WarpPlace& place) const {
  const Segment& segment = segments_[earlier];
  if (is_ordered_launch(segment.launch)) return Before::all_lanes;
  const Slot& slot = slots_[place.slot];
  const bool one_block = segment.block == block_key(place);
  const bool one_warp = one_block && segment.warp == place.warp && !segment.asynchronous;
  if (one_block && !segment.asynchronous && segment.phase < slot.phase) return Before::all_lanes;
  if (one_warp && lockstep_) return Before::all_lanes;
  std::uint32_t known_to_all = ~0u, known_to_some = one_warp ? ~0u : 0;
  const VectorClock* last = nullptr;
  slot.warps[place.warp].for_each([&](const Lane& lane) {
    if (last != nullptr && last->is_same(lane.knows)) return;
    last = &lane.knows;
    const std::uint32_t known = known_lanes(lane.knows, segment);
    known_to_all &= known;
    known_to_some |= known;
  });
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
  const Segment& segment = segments_[earlier];
  return (known_lanes(clock, segment) >> earlier_lane & 1) != 0;
}

bool ThreadOrder::before(SegmentId earlier, unsigned earlier_lane, const WarpPlace& place,
                         unsigned lane) {
  const Segment& segment = segments_[earlier];
  if (is_ordered_launch(segment.launch)) return true;
  if (segment.block == block_key(place) && !segment.asynchronous) {
    if (segment.phase < slots_[place.slot].phase) return true;
    if (segment.warp == place.warp && actor_of(earlier_lane) == actor_of(lane)) return true;
  }
  return knows(lane_at(place, lane).knows, earlier, earlier_lane);
}

}  // namespace warpcheck::vgpu
