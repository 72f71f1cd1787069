// What threads know of asynchronous copies (PTX ISA 9.7.9.25), of products of warpgroups, and of
// the copies that an mbarrier counts.
//
// Asynchronous copies are not in the program order of any thread (PTX ISA 8.9.1.1).  The copies of
// a thread count as a thread of their own, its copier, which ticks when a group of copies is
// closed.  Bulk copies have two such agents for each thread, because a thread can wait for their
// reads alone.  The copies that an mbarrier counts belong to an agent of that mbarrier, which ticks
// whenever bytes are complete.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "vgpu/check/order/clocks/segments.hpp"
#include "vgpu/check/order/launch_order.hpp"
#include "vgpu/check/order/threads.hpp"

namespace warpcheck::vgpu {

class CopyOrder {
 public:
  CopyOrder(const LaunchOrder& launches, Threads& threads, Segments& segments)
      : launches_(launches), threads_(threads), segments_(segments) {}

  // A launch begins, and no other is suspended.
  void begin_launch();
  // Groups of copies are closed, and then waited for.
  void commit(const CopyCommit& commit);
  void wait(const CopyWait& wait);
  // Returns a clock for the asynchronous copies that the lane has begun: they come before what
  // acquires it.
  VectorClock release(const WarpPlace& place, unsigned lane);

  // Returns a clock for the products, and other operations on tensor memory, that the lane has
  // begun.
  VectorClock release_products(const WarpPlace& place, unsigned lane);

  // An mbarrier of a block, as an agent for asynchronous accesses.
  struct Object {
    BlockKey block = 0;
    std::uint32_t offset = 0;  // in the block's shared memory
  };
  // Returns a clock for what this mbarrier has counted so far: it comes before what acquires the
  // clock.
  VectorClock complete(const Object& object);

  // Returns the current segment of a group of bulk copies; reads: of their reads, else of their
  // writes.
  SegmentId segment_of_group(const WarpPlace& place, bool reads);
  // Returns the current segment of the reads by a warpgroup's products.
  SegmentId segment_of_products(const WarpPlace& place);
  // Returns the current segment of copies that a warp makes as one operation.
  SegmentId segment_of_warp_copies(const WarpPlace& place);
  SegmentId segment_of_object(const WarpPlace& place, const Object& object, bool async_proxy);

 private:
  // The bulk copies, or the products, of one thread.
  struct Groups {
    Tick tick = 0;
    std::vector<Tick> ends;
  };
  using GroupsOfWarp = std::array<Groups, kWarpLanes>;
  // The latest groups of products that a warp has closed, by the group's number: what its lanes had
  // done by then; empty: nothing since the group before.
  static constexpr std::size_t kClosedGroups = 8;
  struct ClosedGroups {
    std::size_t count = 0;
    std::size_t known = 0;  // the warp knows what its warpgroup has done before these
    std::array<VectorClock, kClosedGroups> before;
  };
  using GroupsOfWarps = std::unordered_map<std::uint64_t, GroupsOfWarp>;

  [[nodiscard]] std::uint64_t key_of(const WarpPlace& place) const {
    return launches_.block_key(place) << 16 | place.warp;
  }
  [[nodiscard]] Segment segment_at(const WarpPlace& place, bool async_proxy) const;
  SegmentId segment_of_groups(const WarpPlace& place, std::uint32_t agent,
                              const GroupsOfWarps& groups_of);
  [[nodiscard]] std::vector<ThreadTime> products_of_warpgroup(const WarpPlace& place,
                                                              std::size_t count);

  const LaunchOrder& launches_;
  Threads& threads_;
  Segments& segments_;
  void close_group(const CopyCommit& commit);
  [[nodiscard]] VectorClock before_products(const WarpPlace& place, std::size_t count);
  void wait_of_warp(const CopyWait& wait);
  void wait_for_products(const CopyWait& wait);

  GroupsOfWarps bulk_groups_, product_groups_, warp_copies_;
  std::unordered_map<std::uint64_t, ClosedGroups> closed_groups_;
  std::map<std::pair<BlockKey, std::uint32_t>, Tick> object_ticks_;  // block, offset
};

}  // namespace warpcheck::vgpu
