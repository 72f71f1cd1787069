// What observers learn of a tcgen05 instruction, before it is executed: which words of tensor
// memory it accesses, and what it waits for, fences or commits (PTX ISA 9.0, 9.7.16.6).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include <fmt/format.h>

#include "vgpu/machine/access.hpp"
#include "vgpu/program/tensor_memory.hpp"

namespace warpcheck::vgpu {

// Words of one block's tensor memory.
struct TensorArea {
  std::uint32_t block = 0;  // linear index in the grid
  std::uint32_t first_lane = 0, lanes = 0, first_column = 0, columns = 0;
  bool writes = false;

  [[nodiscard]] bool meets(const TensorArea& other) const {
    return block == other.block && first_lane < other.first_lane + other.lanes &&
           other.first_lane < first_lane + lanes &&
           first_column < other.first_column + other.columns &&
           other.first_column < first_column + columns;
  }
  [[nodiscard]] bool contains(const TensorArea& other) const {
    return block == other.block && first_lane <= other.first_lane &&
           other.first_lane + other.lanes <= first_lane + lanes &&
           first_column <= other.first_column &&
           other.first_column + other.columns <= first_column + columns;
  }
};

// Returns "column 5" or "columns 5 to 8".
inline std::string text_of_columns(std::uint32_t first, std::uint32_t count) {
  if (count == 1) return fmt::format("column {}", first);
  return fmt::format("columns {} to {}", first, first + count - 1);
}

struct TensorMemoryEvent {
  TensorOp op{};
  const Program* program = nullptr;
  WarpPlace place;
  std::uint32_t pc = 0;
  std::uint32_t mask = 0;
  std::uint32_t ctas = 1;
  // In the order in which they are accessed.  allocate, deallocate: the columns.
  std::span<const TensorArea> areas{};
  // product: two with the same accumulator and shape form a pipeline.
  std::uint32_t accumulator = 0, rows = 0, columns = 0;
  ProductKind kind = ProductKind::f16;
  bool is_narrow_copy = false;  // copy: of 4 lanes
  // The block has ended without having deallocated these columns; pc is that of the allocation.
  bool is_leak = false;
};

}  // namespace warpcheck::vgpu
