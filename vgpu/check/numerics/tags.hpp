// Marks of values: where a NaN, an infinity or a wrong integer was made.
//
// A tag is a number (0: none) beside a lane of a register, or beside bytes of memory.  Registers
// and memory that hold no tagged value cost nothing.
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>
#include <vector>

#include "vgpu/machine/events.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

using Tag = std::uint32_t;

// What an integer would be that an instruction has lost.
inline constexpr std::int64_t kUnknown = std::numeric_limits<std::int64_t>::max();

// The tags of one row.  `truth`, of a lane whose integer has wrapped: what it would be without
// that; of another integer with a tag: kUnknown.
struct RowTags {
  std::uint32_t mask = 0;  // lanes that have a tag
  std::array<Tag, kWarpLanes> tag{};
  std::array<std::int64_t, kWarpLanes> truth{};

  [[nodiscard]] Tag of(unsigned lane) const { return (mask >> lane & 1u) != 0 ? tag[lane] : 0; }
};

// The tags of a warp's registers.
class TaggedRegisters {
 public:
  [[nodiscard]] bool any() const { return tagged_rows_ != 0; }
  void clear();
  // Returns the tags of a row; null: it has none.
  [[nodiscard]] const RowTags* get(const InstrStep& step, const Ref& ref) const;
  // Sets the tags of `lanes` to those of `tags`; other lanes keep theirs.
  void set(const InstrStep& step, const Ref& ref, const RowTags& tags, std::uint32_t lanes);
  void clear(const InstrStep& step, const Ref& ref, std::uint32_t lanes);

 private:
  [[nodiscard]] static std::size_t index_of(const InstrStep& step, const Ref& ref);

  std::size_t tagged_rows_ = 0;
  // Words at even indices, wides at odd ones.
  std::vector<std::unique_ptr<RowTags>> rows_;
};

// The tags of memory, by byte.
class TaggedMemory {
 public:
  void reset();
  [[nodiscard]] bool any() const { return !pages_.empty(); }
  [[nodiscard]] bool has(const Allocation& allocation) const {
    return allocation.id < pages_in_.size() && pages_in_[allocation.id] != 0;
  }
  // Returns the first tag in the bytes; 0: they have none.
  [[nodiscard]] Tag get(const Allocation& allocation, std::uint32_t offset,
                        std::uint32_t bytes) const;
  void set(const Allocation& allocation, std::uint32_t offset, std::uint32_t bytes, Tag tag);
  void clear(const Allocation& allocation);
  void copy(const DeviceCopy& copy);
  // Calls visit(tag) for each tag in memory, in no order.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const auto& [key, page] : pages_) {
      for (const Tag tag : *page) {
        if (tag != 0) visit(tag);
      }
    }
  }
  // Calls visit(tag, offset of the byte) for each tag in the bytes, in ascending order.
  template <typename Visit>
  void for_each(const Allocation& allocation, std::uint32_t offset, std::uint32_t bytes,
                Visit visit) const {
    if (!has(allocation) || bytes == 0) return;
    const std::uint32_t last = offset + bytes - 1;
    for (std::uint32_t at = offset; at <= last; ++at) {
      const Page* const page = page_at(allocation, at);
      if (page == nullptr) {
        at |= kPageBytes - 1;
        if (at == ~0u) return;
        continue;
      }
      const Tag tag = (*page)[at % kPageBytes];
      if (tag != 0) visit(tag, at);
    }
  }

 private:
  static constexpr std::uint32_t kPageBytes = 4096;
  using Page = std::array<Tag, kPageBytes>;
  [[nodiscard]] static std::uint64_t key_of(const Allocation& allocation, std::uint32_t offset) {
    return std::uint64_t{allocation.id} << 32 | offset / kPageBytes;
  }
  [[nodiscard]] const Page* page_at(const Allocation& allocation, std::uint32_t offset) const;

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
  std::vector<std::uint32_t> pages_in_;  // by id of the allocation
};

}  // namespace warpcheck::vgpu
