// What threads know of asynchronous copies (PTX ISA 9.7.9.25) and of products of warpgroups: groups
// of them are closed and then waited for.
#include <utility>
#include <vector>

#include "vgpu/check/order/bits.hpp"
#include "vgpu/check/order/thread_order.hpp"

namespace warpcheck::vgpu {
namespace {

// Returns whether the group holds products of a warpgroup instead of copies.
bool is_of_products(const Program& program, std::uint32_t pc) {
  return program.code[pc].kind == InstrKind::group_pending;
}

}  // namespace

void ThreadOrder::commit_copies(const CopyCommit& commit) {
  const bool of_products = is_of_products(*commit.program, commit.pc);
  if (commit.bulk || of_products) {
    for_each_bit(lockstep_ ? 1u : commit.mask, [&](unsigned lane) {
      BulkGroups& groups =
          (of_products ? product_groups_ : bulk_groups_)[thread_key(commit.place, lane)];
      groups.ends.push_back(++groups.tick);
    });
  } else {
    for_each_actor(commit.place, commit.mask,
                   [](Lane& self) { self.groups.push_back(++self.copier_tick); });
  }
  changed(commit.place);
}

VectorClock ThreadOrder::release_copies(const WarpPlace& place, unsigned lane) {
  changed(place);
  const ThreadTime copies{kCopier + thread_at(place, lane), ++own_lane(place, lane).copier_tick,
                          kAnyPhase};
  VectorClock clock;
  clock.learn(block_key(place), 0, {&copies, 1});
  return clock;
}

void ThreadOrder::Warp::put_down_awaited() const {
  const AwaitedCopies copies = std::exchange(awaited, {});
  part();
  for_each_bit(copies.lanes, [&](unsigned lane) {
    const ThreadTime done{kCopier + copies.first_thread + lane, copies.end, kAnyPhase};
    VectorClock clock;
    clock.learn(copies.block, 0, {&done, 1});
    (*each)[lane].knows.join(clock);
  });
}

// Takes the copies that warps of the block have waited for and whose knowledge is not written yet;
// ascending.
std::vector<ThreadTime> ThreadOrder::take_awaited(Slot& slot) {
  std::vector<ThreadTime> copies;
  for (Warp& warp : slot.warps) {
    const AwaitedCopies awaited = std::exchange(warp.awaited, {});
    if (awaited.end == 0) continue;
    for_each_bit(awaited.lanes, [&](unsigned lane) {
      copies.push_back({kCopier + awaited.first_thread + lane, awaited.end, kAnyPhase});
    });
  }
  return copies;
}

// Handles a wait for copies by all lanes of a warp that are alike.
void ThreadOrder::wait_together(const CopyWait& wait) {
  Slot& slot = slots_[wait.place.slot];
  Warp& warp = slot.warps[wait.place.warp];
  const std::vector<Tick>& groups = warp.common.groups;
  if (groups.size() <= wait.groups_left) return;
  const Tick end = groups[groups.size() - wait.groups_left - 1];
  if (end <= warp.awaited_before) return;
  warp.awaited_before = end;
  warp.awaited = {block_key(wait.place), wait.place.warp * kWarpLanes, lanes_of(wait.place.warp),
                  end};
  slot.alike = false;
  changed(wait.place);
}

// Returns the first `count` groups of products of each thread of a warpgroup.  A product is one
// operation of four warps, so a thread that has waited for its group has waited for all of it.
std::vector<ThreadTime> ThreadOrder::products_of_warpgroup(const WarpPlace& place,
                                                           std::size_t count) const {
  constexpr std::uint32_t kGroupWarps = 4;
  std::vector<ThreadTime> products;
  WarpPlace other = place;
  other.warp = place.warp / kGroupWarps * kGroupWarps;
  for (const std::uint32_t end = other.warp + kGroupWarps; other.warp < end; ++other.warp) {
    for (unsigned lane = 0; lane < (lockstep_ ? 1 : kWarpLanes); ++lane) {
      const auto groups = product_groups_.find(thread_key(other, lane));
      if (groups == product_groups_.end() || groups->second.ends.size() < count) continue;
      const Tick closed = groups->second.ends[count - 1];
      products.push_back({kProducts + thread_at(other, lane), closed, kAnyPhase});
    }
  }
  return products;
}

void ThreadOrder::wait_for_copies(const CopyWait& wait) {
  const bool of_products = is_of_products(*wait.program, wait.pc);
  const std::uint32_t all = lanes_of(wait.place.warp);
  const bool is_alike = slots_[wait.place.slot].warps[wait.place.warp].each == nullptr;
  if (!wait.bulk && !of_products && !lockstep_ && is_alike && (wait.mask & all) == all) {
    return wait_together(wait);
  }
  for_each_bit(lockstep_ ? 1u : wait.mask, [&](unsigned lane) {
    const std::uint64_t key = thread_key(wait.place, lane);
    const std::vector<Tick>& groups = of_products ? product_groups_[key].ends
                                      : wait.bulk ? bulk_groups_[key].ends
                                                  : lane_at(wait.place, lane).groups;
    if (groups.size() <= wait.groups_left) return;
    const std::uint32_t thread = thread_at(wait.place, lane);
    const Tick end = groups[groups.size() - wait.groups_left - 1];
    const std::uint32_t agent = of_products ? kProducts : wait.bulk ? kBulkReads : kCopier;
    std::vector<ThreadTime> copies{{agent + thread, end, kAnyPhase}};
    if (of_products) copies = products_of_warpgroup(wait.place, groups.size() - wait.groups_left);
    if (wait.bulk && !wait.reads_only) copies.push_back({kBulkWrites + thread, end, kAnyPhase});
    VectorClock clock;
    clock.learn(block_key(wait.place), 0, copies);
    learn(wait.place, lane, clock);
  });
}

}  // namespace warpcheck::vgpu
