#include "vgpu/check/order/copy_order.hpp"

#include "vgpu/check/order/agents.hpp"
#include "vgpu/check/order/clocks/bits.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns whether the group holds products of a warpgroup instead of copies.
bool is_of_products(const Program& program, std::uint32_t pc) {
  return program.code[pc].kind == InstrKind::group_pending;
}

}  // namespace

void CopyOrder::begin_launch() {
  bulk_groups_.clear();
  product_groups_.clear();
  warp_copies_.clear();
  object_ticks_.clear();
}

void CopyOrder::commit(const CopyCommit& commit) {
  const bool of_products = is_of_products(*commit.program, commit.pc);
  if (commit.bulk || of_products) {
    for_each_bit(threads_.actors_of(commit.mask), [&](unsigned lane) {
      Groups& groups =
          (of_products ? product_groups_ : bulk_groups_)[threads_.key_of(commit.place, lane)];
      groups.ends.push_back(++groups.tick);
    });
  } else {
    threads_.for_each_actor(commit.place, commit.mask,
                            [](ThreadState& self) { self.groups.push_back(++self.copier_tick); });
  }
  threads_.changed(commit.place);
}

VectorClock CopyOrder::release(const WarpPlace& place, unsigned lane) {
  threads_.changed(place);
  const ThreadTime copies{agents::kCopier + threads_.thread_at(place, lane),
                          ++threads_.own(place, lane).copier_tick, kAnyPhase};
  VectorClock clock;
  clock.learn(launches_.block_key(place), 0, {&copies, 1});
  return clock;
}

// Returns the first `count` groups of products of each thread of a warpgroup.  A product is one
// operation of four warps, so a thread that has waited for its group has waited for all of it.
std::vector<ThreadTime> CopyOrder::products_of_warpgroup(const WarpPlace& place,
                                                         std::size_t count) const {
  constexpr std::uint32_t kGroupWarps = 4;
  std::vector<ThreadTime> products;
  WarpPlace other = place;
  other.warp = place.warp / kGroupWarps * kGroupWarps;
  for (const std::uint32_t end = other.warp + kGroupWarps; other.warp < end; ++other.warp) {
    for_each_bit(threads_.actors_of(~0u), [&](unsigned lane) {
      const auto groups = product_groups_.find(threads_.key_of(other, lane));
      if (groups == product_groups_.end() || groups->second.ends.size() < count) return;
      const Tick closed = groups->second.ends[count - 1];
      products.push_back({agents::kProducts + threads_.thread_at(other, lane), closed, kAnyPhase});
    });
  }
  return products;
}

// The copies of a warp are one operation of all its lanes: what follows them in any lane comes
// after the part of each lane.
void CopyOrder::wait_of_warp(const CopyWait& wait) {
  std::vector<ThreadTime> copies;
  for_each_bit(threads_.actors_of(threads_.lanes_of(wait.place.warp)), [&](unsigned lane) {
    const Tick end = ++warp_copies_[threads_.key_of(wait.place, lane)].tick;
    copies.push_back({agents::kWarpCopies + threads_.thread_at(wait.place, lane), end, kAnyPhase});
  });
  VectorClock clock;
  clock.learn(launches_.block_key(wait.place), 0, copies);
  threads_.learn_together(wait.place, threads_.actors_of(wait.mask), clock);
}

void CopyOrder::wait(const CopyWait& wait) {
  if (wait.of_warp) return wait_of_warp(wait);
  const bool of_products = is_of_products(*wait.program, wait.pc);
  if (!wait.bulk && !of_products &&
      threads_.await_copies_together(wait.place, wait.mask, wait.groups_left)) {
    return;
  }
  for_each_bit(threads_.actors_of(wait.mask), [&](unsigned lane) {
    const std::uint64_t key = threads_.key_of(wait.place, lane);
    const std::vector<Tick>& groups = of_products ? product_groups_[key].ends
                                      : wait.bulk ? bulk_groups_[key].ends
                                                  : threads_.at(wait.place, lane).groups;
    if (groups.size() <= wait.groups_left) return;
    const std::uint32_t thread = threads_.thread_at(wait.place, lane);
    const Tick end = groups[groups.size() - wait.groups_left - 1];
    const std::uint32_t agent = wait.bulk ? agents::kBulkReads : agents::kCopier;
    std::vector<ThreadTime> copies{{agent + thread, end, kAnyPhase}};
    if (of_products) copies = products_of_warpgroup(wait.place, groups.size() - wait.groups_left);
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
                                       const GroupsOfThreads& groups_of) {
  Segment segment = segment_at(place, agent != agents::kWarpCopies);
  segment.agent = agent + place.warp * kWarpLanes;
  Segments::Ticks ticks;
  for (unsigned lane = 0; lane < kWarpLanes; ++lane) {
    const auto groups = groups_of.find(threads_.key_of(place, lane));
    ticks[lane] = groups == groups_of.end() ? 0 : groups->second.tick;
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
