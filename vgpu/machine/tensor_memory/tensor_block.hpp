// The tensor memory of a block: 128 lanes of 512 words, and what is allocated of it (PTX ISA 9.0,
// 9.7.16.1).
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "vgpu/program/tensor_memory.hpp"

namespace warpcheck::vgpu {

// Columns that an allocation has.
struct TensorAllocation {
  std::uint32_t first = 0, count = 0;
  std::uint32_t ctas = 1;
  std::uint32_t pc = 0, warp = 0;  // where it was allocated
  [[nodiscard]] bool has(std::uint32_t column) const {
    return column >= first && column - first < count;
  }
};

inline constexpr std::uint32_t kColumnUnit = 32;   // of allocations
inline constexpr std::uint32_t kLanesOfPart = 32;  // that the warps of one number can access

struct TensorBlock {
  std::vector<std::uint32_t> words = std::vector<std::uint32_t>(kTensorLanes * kTensorColumns);
  // What each word holds: bytes, since whole rows are copied.
  static constexpr std::uint8_t kUnwritten = 0, kWritten = 1;  // others: an undefined value
  std::vector<std::uint8_t> states = std::vector<std::uint8_t>(kTensorLanes * kTensorColumns);
  std::vector<std::uint32_t> origins;  // of undefined values: pcs, by state from kWritten + 1 on
  std::vector<TensorAllocation> allocations;
  bool is_relinquished = false;
  // An allocation by a pair of blocks, of which this block's warp has arrived.
  struct Request {
    bool waits = false, is_done = false;
    std::uint32_t pc = 0, warp = 0, count = 0, first = 0;
  } request;

  static std::size_t index(std::uint32_t lane, std::uint32_t column) {
    return std::size_t{lane} * kTensorColumns + column;
  }
  // Returns the state of a word that holds a value.
  //   origin: the pc of the instruction that made it undefined; kNone: it is defined
  std::uint8_t state_of(std::uint32_t origin) {
    if (origin == ptx::kNone) return kWritten;
    constexpr std::size_t kOriginsMax = 0xff - kWritten;
    auto found = std::ranges::find(origins, origin);
    if (found == origins.end()) {
      if (origins.size() == kOriginsMax) return 0xff;
      found = origins.insert(found, origin);
    }
    return static_cast<std::uint8_t>(kWritten + 1 + (found - origins.begin()));
  }
  // Returns the origin of what a reader at a pc finds, that pc if nothing has been written there;
  // kNone: it is defined.
  [[nodiscard]] std::uint32_t origin_of(std::uint8_t state, std::uint32_t reader) const {
    if (state == kWritten) return ptx::kNone;
    return state == kUnwritten ? reader : origins[state - kWritten - 1u];
  }
  [[nodiscard]] const TensorAllocation* allocation_of(std::uint32_t column) const {
    for (const TensorAllocation& one : allocations) {
      if (one.has(column)) return &one;
    }
    return nullptr;
  }
  // Returns the first of as many columns that are free here and in another block; kTensorColumns:
  // there are none.
  [[nodiscard]] std::uint32_t first_free(std::uint32_t count,
                                         const TensorBlock* other = nullptr) const {
    for (std::uint32_t first = 0; first + count <= kTensorColumns; first += kColumnUnit) {
      if (is_free(first, count) && (other == nullptr || other->is_free(first, count))) return first;
    }
    return kTensorColumns;
  }
  [[nodiscard]] bool is_free(std::uint32_t first, std::uint32_t count) const {
    for (const TensorAllocation& one : allocations) {
      if (first < one.first + one.count && one.first < first + count) return false;
    }
    return true;
  }
};

// An address in tensor memory: the lane in the upper half, the column in the lower one.
struct TensorAddress {
  std::uint32_t lane = 0, column = 0;
  static TensorAddress of(std::uint32_t bits) { return {bits >> 16, bits & 0xffff}; }
  [[nodiscard]] std::uint32_t bits() const { return lane << 16 | column; }
};

}  // namespace warpcheck::vgpu
