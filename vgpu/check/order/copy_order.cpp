#include "vgpu/check/order/copy_order.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "vgpu/check/order/agents.hpp"
#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

constexpr std::uint32_t kGroupWarps = 4;  // of a warpgroup

// Returns whether the group holds products of a warpgroup instead of copies.
bool is_of_products(const Program& program, std::uint32_t pc) {
  return program.code[pc].kind == InstrKind::group_pending;
}

}  // namespace

void CopyOrder::begin_launch() {
  bulk_groups_.clear();
  product_groups_.clear();
  closed_groups_.clear();
  warp_copies_.clear();
  object_ticks_.clear();
}

void CopyOrder::commit(const CopyCommit& commit) {
  const bool of_products = is_of_products(*commit.program, commit.pc);
  if (commit.bulk || of_products) {
    GroupsOfWarp& of_lanes = (of_products ? product_groups_ : bulk_groups_)[key_of(commit.place)];
    for_each_bit(threads_.actors_of(commit.mask), [&](unsigned lane) {
      Groups& groups = of_lanes[lane];
      groups.ends.push_back(++groups.tick);
    });
    if (of_products) close_group(commit);
  } else {
    threads_.for_each_actor(commit.place, commit.mask,
                            [](ThreadState& self) { self.groups.push_back(++self.copier_tick); });
  }
  threads_.changed(commit.place);
}

// Keeps what the warp's lanes have done before they closed their latest group.
void CopyOrder::close_group(const CopyCommit& commit) {
  ClosedGroups& closed = closed_groups_[key_of(commit.place)];
  VectorClock& clock = closed.before[++closed.count % kClosedGroups];
  clock = {};
  if (!threads_.take_has_acted(commit.place)) return;
  const std::uint32_t lanes = threads_.actors_of(commit.mask);
  if (threads_.are_alike(commit.place, commit.mask)) {
    threads_.for_each_actor(commit.place, commit.mask, [&](ThreadState& self) {
      clock = threads_.clock_of_alike(threads_.release(commit.place, self), commit.place, lanes);
    });
    return;
  }
  for_each_bit(lanes, [&](unsigned lane) {
    clock.join(threads_.clock_of(threads_.release(commit.place, lane), commit.place, lane));
  });
}

// Returns what the warps of a warpgroup have done before they closed their group number `count`, as
// far as this warp does not know it: none of them goes on behind the group's products before all
// have begun them.
VectorClock CopyOrder::before_products(const WarpPlace& place, std::size_t count) {
  const std::uint32_t first = place.warp / kGroupWarps * kGroupWarps;
  const std::uint32_t end = std::min(first + kGroupWarps, threads_.warps());
  const std::size_t known = std::exchange(closed_groups_[key_of(place)].known, count);
  VectorClock clock;
  WarpPlace other = place;
  for (other.warp = first; other.warp < end; ++other.warp) {
    const ClosedGroups& closed = closed_groups_[key_of(other)];
    for (std::size_t number = count; number > known; --number) {
      if (number > closed.count) continue;
      if (closed.count >= number + kClosedGroups) break;
      const VectorClock& before = closed.before[number % kClosedGroups];
      if (!before.is_empty()) clock.join(before);
    }
  }
  return clock;
}

VectorClock CopyOrder::release(const WarpPlace& place, unsigned lane) {
  threads_.changed(place);
  const ThreadTime copies{agents::kCopier + threads_.thread_at(place, lane),
                          ++threads_.own(place, lane).copier_tick, kAnyPhase};
  VectorClock clock;
  clock.learn(launches_.block_key(place), 0, {&copies, 1});
  return clock;
}

VectorClock CopyOrder::release_products(const WarpPlace& place, unsigned lane) {
  threads_.changed(place);
  const unsigned actor = threads_.actor_of(lane);
  const ThreadTime products{agents::kProducts + threads_.thread_at(place, lane),
                            ++product_groups_[key_of(place)][actor].tick, kAnyPhase};
  VectorClock clock;
  clock.learn(launches_.block_key(place), 0, {&products, 1});
  return clock;
}

// Returns the first `count` groups of products of each thread of a warpgroup, or as many as all
// threads have closed: some may have exited.  A product is one operation of four warps, so a thread
// that has waited for its group has waited for all of it.
std::vector<ThreadTime> CopyOrder::products_of_warpgroup(const WarpPlace& place,
                                                         std::size_t count) {
  const std::uint32_t first = place.warp / kGroupWarps * kGroupWarps;
  const std::uint32_t end = std::min(first + kGroupWarps, threads_.warps());
  const auto for_each_thread = [&](auto visit) {
    WarpPlace other = place;
    for (other.warp = first; other.warp < end; ++other.warp) {
      const GroupsOfWarp& of_lanes = product_groups_[key_of(other)];
      for_each_bit(threads_.actors_of(threads_.lanes_of(other.warp)), [&](unsigned lane) {
        visit(agents::kProducts + threads_.thread_at(other, lane), of_lanes[lane].ends);
      });
    }
  };
  for_each_thread(
      [&](std::uint32_t, const std::vector<Tick>& ends) { count = std::min(count, ends.size()); });
  std::vector<ThreadTime> products;
  if (count == 0) return products;
  for_each_thread([&](std::uint32_t agent, const std::vector<Tick>& ends) {
    const Tick closed = ends[count - 1];
    const bool continues =
        !products.empty() && products.back().end() == agent && products.back().ticks == closed;
    if (continues) {
      ++products.back().count;
    } else {
      products.push_back({agent, closed, kAnyPhase});
    }
  });
  return products;
}

// The copies of a warp are one operation of all its lanes: what follows them in any lane comes
// after the part of each lane.
void CopyOrder::wait_of_warp(const CopyWait& wait) {
  std::vector<ThreadTime> copies;
  GroupsOfWarp& of_lanes = warp_copies_[key_of(wait.place)];
  for_each_bit(threads_.actors_of(threads_.lanes_of(wait.place.warp)), [&](unsigned lane) {
    const Tick end = ++of_lanes[lane].tick;
    copies.push_back({agents::kWarpCopies + threads_.thread_at(wait.place, lane), end, kAnyPhase});
  });
  VectorClock clock;
  clock.learn(launches_.block_key(wait.place), 0, copies);
  threads_.learn_together(wait.place, threads_.actors_of(wait.mask), clock);
}

// Mostly all lanes have closed the same number of groups, and learn the same.
void CopyOrder::wait_for_products(const CopyWait& wait) {
  const GroupsOfWarp& of_lanes = product_groups_[key_of(wait.place)];
  for (std::uint32_t rest = threads_.actors_of(wait.mask); rest != 0;) {
    const std::size_t closed = of_lanes[static_cast<unsigned>(std::countr_zero(rest))].ends.size();
    std::uint32_t same = 0;
    for_each_bit(rest, [&](unsigned lane) {
      if (of_lanes[lane].ends.size() == closed) same |= 1u << lane;
    });
    rest &= ~same;
    if (closed <= wait.groups_left) continue;
    VectorClock clock = before_products(wait.place, closed - wait.groups_left);
    clock.learn(launches_.block_key(wait.place), 0,
                products_of_warpgroup(wait.place, closed - wait.groups_left));
    threads_.learn_together(wait.place, same, clock);
  }
}

void CopyOrder::wait(const CopyWait& wait) {
  if (wait.of_warp) return wait_of_warp(wait);
  if (is_of_products(*wait.program, wait.pc)) return wait_for_products(wait);
  if (!wait.bulk && threads_.await_copies_together(wait.place, wait.mask, wait.groups_left)) {
    return;
  }
  for_each_bit(threads_.actors_of(wait.mask), [&](unsigned lane) {
    const std::vector<Tick>& groups = wait.bulk ? bulk_groups_[key_of(wait.place)][lane].ends
                                                : threads_.at(wait.place, lane).groups;
    if (groups.size() <= wait.groups_left) return;
    const std::uint32_t thread = threads_.thread_at(wait.place, lane);
    const Tick end = groups[groups.size() - wait.groups_left - 1];
    const std::uint32_t agent = wait.bulk ? agents::kBulkReads : agents::kCopier;
    std::vector<ThreadTime> copies{{agent + thread, end, kAnyPhase}};
    if (wait.bulk && !wait.reads_only) {
      copies.push_back({agents::kBulkWrites + thread, end, kAnyPhase});
    }
    VectorClock clock;
    clock.learn(launches_.block_key(wait.place), 0, copies);
    threads_.learn(wait.place, lane, clock);
  });
}

VectorClock CopyOrder::complete(const Object& object) {
  const ThreadTime done{agents::kObject + object.offset,
                        ++object_ticks_[{object.block, object.offset}], kAnyPhase};
  VectorClock clock;
  clock.learn(object.block, 0, {&done, 1});
  return clock;
}

// Returns a segment of an agent, but for the agent.
Segment CopyOrder::segment_at(const WarpPlace& place, bool async_proxy) const {
  Segment segment;
  segment.block = segment.agent_block = launches_.block_key(place);
  segment.phase = threads_.phase_of(place);
  segment.launch = launches_.current();
  segment.warp = static_cast<std::uint16_t>(place.warp);
  segment.asynchronous = true;
  segment.async_proxy = async_proxy;
  return segment;
}

SegmentId CopyOrder::segment_of_group(const WarpPlace& place, bool reads) {
  return segment_of_groups(place, reads ? agents::kBulkReads : agents::kBulkWrites, bulk_groups_);
}

SegmentId CopyOrder::segment_of_products(const WarpPlace& place) {
  return segment_of_groups(place, agents::kProducts, product_groups_);
}

SegmentId CopyOrder::segment_of_warp_copies(const WarpPlace& place) {
  return segment_of_groups(place, agents::kWarpCopies, warp_copies_);
}

SegmentId CopyOrder::segment_of_groups(const WarpPlace& place, std::uint32_t agent,
                                       const GroupsOfWarps& groups_of) {
  Segment segment = segment_at(place, agent != agents::kWarpCopies);
  segment.agent = agent + place.warp * kWarpLanes;
  Segments::Ticks ticks;
  ticks.fill(0);
  const auto groups = groups_of.find(key_of(place));
  if (groups != groups_of.end()) {
    for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
      ticks[lane] = groups->second[threads_.actor_of(lane)].tick;
    }
  }
  return segments_.add_of_agent(segment, ticks);
}

SegmentId CopyOrder::segment_of_object(const WarpPlace& place, const Object& object,
                                       bool async_proxy) {
  Segment segment = segment_at(place, async_proxy);
  segment.is_object = true;
  segment.agent = agents::kObject + object.offset;
  segment.agent_block = object.block;
  Segments::Ticks ticks;
  ticks.fill(object_ticks_[{object.block, object.offset}]);
  return segments_.add_of_agent(segment, ticks);
}

}  // namespace warpcheck::vgpu
