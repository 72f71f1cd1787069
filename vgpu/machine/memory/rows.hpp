// Moves rows of 32 lanes between registers and memory.  The functions are compiled once per
// instruction set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "vgpu/machine/pattern.hpp"

namespace warpcheck::vgpu {

// What scan() finds about the active lanes.
struct RowScan {
  bool inside = false;   // every active lane's bytes lie in [begin, limit), naturally aligned
  bool strided = false;  // offset[l] == offset[0] + l * bytes
  bool uniform = false;  // all offsets are equal
};

struct AddressRow {
  const std::byte* row = nullptr;  // 32 x 8 bytes if wide, else 32 x 4 bytes
  bool wide = true;
  std::uint64_t displacement = 0;  // added to each address
  std::uint64_t base = 0;          // subtracted: the allocation's address
  std::uint32_t begin = 0;         // of the object
};

// Moves one element of each lane between a register and `data + offsets[l] + element * width`.
struct RowMove {
  std::byte* data = nullptr;
  const std::uint32_t* offsets = nullptr;  // of all lanes; inactive ones hold a valid offset
  std::uint32_t mask = 0;
  std::uint32_t displacement = 0;         // in bytes: selects the element of a vector access
  bool strided = false, uniform = false;  // strided: for single elements only
  std::byte* row = nullptr;               // the register
  bool wide_row = false;
  std::uint8_t width = 4;  // bytes of an element in memory: 1 2 4 8
  bool is_signed = false;  // loads: how to extend
};

// A strided row starts at a nominal offset, below 0 if its first lanes are inactive.  No allocation
// reaches into the last page of offsets.
[[gnu::always_inline]] inline std::ptrdiff_t start_of(std::uint32_t offset) {
  return offset >= 0xffff'f000u ? static_cast<std::int32_t>(offset)
                                : static_cast<std::ptrdiff_t>(offset);
}

// Moves one element of each active lane between a register and memory.  `memory` is the address for
// lane 0, which may lie before the allocation; uniform: the address for all lanes.
using RowMoveFn = void (*)(std::byte* row, std::byte* memory, std::uint32_t mask);

// In interleaved local memory, the words of the lanes with one offset are adjacent: returns where
// the first lane's byte at this offset lies.
[[gnu::always_inline]] constexpr std::uint32_t interleaved(std::uint32_t offset) {
  return offset / 4 * (4 * 32) + offset % 4;
}
// Returns the offset in its lane of a byte that lies there.
constexpr std::uint32_t offset_in_lane(std::uint32_t place) {
  return place / (4 * 32) * 4 + place % 4;
}

// Returns an index into the tables of MemoryRowFunctions.
//   width: bytes of an element in memory, 1 2 4 8; is_signed: as in RowMove
constexpr std::uint8_t row_move_index(std::uint32_t width, bool wide_row, bool is_signed) {
  const std::uint32_t log2 = width == 8 ? 3 : width / 2;
  return static_cast<std::uint8_t>(log2 + 4 * std::uint32_t{wide_row} +
                                   8 * std::uint32_t{is_signed});
}
inline constexpr std::size_t kRowMoves = 16;

struct MemoryRowFunctions {
  // For rows of 32 x 4 bytes, and of 32 x 8 bytes.
  Pattern (*pattern_of_words)(const std::byte* row, std::uint32_t bytes, std::uint32_t mask);
  Pattern (*pattern_of_wides)(const std::byte* row, std::uint32_t bytes, std::uint32_t mask);
  // offsets[l] = first + l * step
  void (*count_up)(std::uint32_t* offsets, std::uint32_t first, std::uint32_t step);
  // Writes offsets[32]; unless strided, inactive lanes get the offset of the first active one.
  // limit: end of the object's bytes; bytes: size of one lane's access, a power of two.
  RowScan (*scan)(const AddressRow& addresses, std::uint32_t limit, std::uint32_t bytes,
                  std::uint32_t mask, std::uint32_t* offsets);
  // places[l] = the offset, in interleaved local memory, of lane l's byte `offsets[l] + further`.
  // Inactive lanes get the place of the first active one.
  void (*interleave)(const std::uint32_t* offsets, std::uint32_t further, std::uint32_t mask,
                     std::uint32_t* places);
  // Indexed by row_move_index().
  std::array<RowMoveFn, kRowMoves> strided_load, strided_store, uniform_load, uniform_store;
  void (*load)(const RowMove& move);
  void (*store)(const RowMove& move);
  // Sets the active lanes of a row to one value.
  void (*broadcast)(std::byte* row, bool wide, std::uint64_t value, std::uint32_t mask);
};

// Returns the functions for this host's instruction set (simd_level()).
//   concurrent: other threads may write between the active lanes' bytes, so nothing else
//   may be written
const MemoryRowFunctions& memory_row_functions(bool concurrent = false);
// Returns the functions for an instruction set that the host supports.
enum class SimdLevel : std::uint8_t;
const MemoryRowFunctions& memory_row_functions(SimdLevel level, bool concurrent = false);

}  // namespace warpcheck::vgpu
