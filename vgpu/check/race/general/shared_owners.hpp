// The blocks that own shared memory, and the accesses to it that the end of the block does not
// wait for: those by other blocks of the cluster, and those by asynchronous copies of its own.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "vgpu/check/order/thread_order.hpp"

namespace warpcheck::vgpu {

class SharedOwners {
 public:
  explicit SharedOwners(const ThreadOrder& order) : order_(order) {}

  // An access to a block's shared memory that must come before the block's end.
  struct Use {
    SegmentId segment = 0;
    std::uint32_t lanes = 0;
    std::uint32_t pc = 0;
    unsigned access_class = 0;
    std::string object;
    bool is_copy = false;  // of the block itself; else by a thread of another block
  };

  void clear() { owners_.clear(); }
  // The block of `place` begins, and owns this shared memory.
  void begin_block(const WarpPlace& place, const Allocation& shared);
  // Returns 0 if the allocation has no owner.
  [[nodiscard]] BlockKey block_of(const Allocation& allocation) const {
    return allocation.id < owners_.size() ? owners_[allocation.id].block : 0;
  }
  // Returns the first segment that can have accessed the memory of `access` for its present owner.
  [[nodiscard]] SegmentId first_segment_of(const Access& access) const;
  // Records an access by a thread of one block to the shared memory of another block of the
  // cluster, or one by an asynchronous copy of the block itself.
  //   now: the segment of the access
  void remember(const Access& access, SegmentId now);
  [[nodiscard]] const std::vector<Use>& uses_of(const Allocation& shared) const {
    return owners_[shared.id].uses;
  }
  // Calls visit(segment) for each recorded access.
  template <typename Visit>
  void for_each_segment(Visit visit) {
    for (Owner& owner : owners_) {
      for (Use& use : owner.uses) visit(use.segment);
    }
  }
  //   renewed: the new numbers of segments, by their old numbers
  void renew_thresholds(const std::vector<SegmentId>& renewed);

 private:
  struct Owner {
    BlockKey block = 0;
    SegmentId first_segment = 0;  // 0: no owner
    std::vector<Use> uses;
  };

  void remember_copy(Owner& owner, const Access& access, SegmentId now) const;

  const ThreadOrder& order_;
  std::vector<Owner> owners_;  // by Allocation::id
};

}  // namespace warpcheck::vgpu
