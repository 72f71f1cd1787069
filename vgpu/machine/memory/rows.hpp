// Rows of 32 lanes to memory and back, compiled once per instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

namespace warpcheck::vgpu {

// What scan_addresses() found out about the active lanes.
struct RowScan {
  bool inside = false;   // every active lane's bytes lie in [begin, limit), naturally aligned
  bool strided = false;  // offset[l] == offset[0] + l * bytes
  bool uniform = false;  // all the same
};

struct AddressRow {
  const std::byte* row = nullptr;  // 32 x 8 bytes if wide, else 32 x 4 bytes
  bool wide = true;
  std::uint64_t displacement = 0;  // added to each address
  std::uint64_t base = 0;          // subtracted: the allocation's address
  std::uint32_t begin = 0;         // of the bytes that are meant
};

// One element of each lane, from or to `data + offsets[l] + element * width`.
struct RowMove {
  std::byte* data = nullptr;
  const std::uint32_t* offsets = nullptr;  // of all lanes; inactive ones hold a valid offset
  std::uint32_t mask = 0;
  std::uint32_t displacement = 0;         // bytes: which element of a vector access
  bool strided = false, uniform = false;  // strided: of single elements only
  std::byte* row = nullptr;               // the register
  bool wide_row = false;
  std::uint8_t width = 4;  // bytes of an element in memory: 1 2 4 8
  bool is_signed = false;  // loads: how to extend
};

struct MemoryRowFunctions {
  // Writes offsets[32]; inactive lanes get the offset of the first active one unless strided.
  // limit: end of the bytes that are meant; bytes: of one lane's access, a power of two.
  RowScan (*scan)(const AddressRow& addresses, std::uint32_t limit, std::uint32_t bytes,
                  std::uint32_t mask, std::uint32_t* offsets);
  void (*load)(const RowMove& move);
  void (*store)(const RowMove& move);
  // Sets the active lanes of a row to one value.
  void (*broadcast)(std::byte* row, bool wide, std::uint64_t value, std::uint32_t mask);
};

// For this host's instruction set (simd_level()).
const MemoryRowFunctions& memory_row_functions();

}  // namespace warpcheck::vgpu
