// The bytes that a row of weak writes is about to store.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

// Returns the value that `lane` of a write stores at byte `index` of its access.
inline std::byte stored_byte(const Access& access, unsigned lane, std::uint32_t index) {
  const std::byte* const row = access.values[index / access.element_bytes];
  return row[lane * access.value_bytes + index % access.element_bytes];
}

// Returns whether `lane` is about to store the bytes that are already there.  Earlier lanes of the
// row store before it, and their bytes have not moved yet.
inline bool stores_same_bytes(const Access& access, unsigned lane) {
  if (access.values[0] == nullptr) return false;
  for (std::uint32_t i = 0; i < access.bytes; ++i) {
    std::byte held = access.allocation->data[access.offset[lane] + i];
    for (std::uint32_t rest = access.mask & ((1u << lane) - 1); rest != 0; rest &= rest - 1) {
      const auto earlier = static_cast<unsigned>(std::countr_zero(rest));
      const std::uint32_t at = access.offset[lane] + i - access.offset[earlier];
      if (at < access.bytes) held = stored_byte(access, earlier, at);
    }
    if (stored_byte(access, lane, i) != held) return false;
  }
  return true;
}

// Returns whether `lane` stores the bytes that were there before the row.
inline bool stores_what_was_there(const Access& access, unsigned lane) {
  if (access.values[0] == nullptr) return false;
  for (std::uint32_t i = 0; i < access.bytes; ++i) {
    if (stored_byte(access, lane, i) != access.allocation->data[access.offset[lane] + i]) {
      return false;
    }
  }
  return true;
}

}  // namespace warpcheck::vgpu
