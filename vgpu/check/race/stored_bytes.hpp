// The bytes that a row of weak writes is about to store.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "vgpu/check/reporter.hpp"
#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

// Returns the value that `lane` of a write stores at byte `index` of its access.
inline std::byte stored_byte(const Access& access, unsigned lane, std::uint32_t index) {
  const std::byte* const row = access.values[index / access.element_bytes];
  return row[lane * access.value_bytes + index % access.element_bytes];
}

// Returns the latest lane before `lane` that stores the byte `index` of what `lane` stores, which
// is mostly the one before; kWarpLanes: there is none.
inline unsigned lane_that_stores_before(const Access& access, unsigned lane, std::uint32_t index) {
  if (access.pattern == Pattern::strided) return kWarpLanes;  // no two lanes meet
  for (std::uint32_t rest = access.mask & ((1u << lane) - 1); rest != 0;) {
    const auto earlier = static_cast<unsigned>(31 - std::countl_zero(rest));
    if (access.offset[lane] + index - access.offset[earlier] < access.bytes) return earlier;
    rest &= ~(1u << earlier);
  }
  return kWarpLanes;
}

// Returns whether `lane` is about to store the bytes that are already there.  Earlier lanes of the
// row store before it, and their bytes have not moved yet.
inline bool stores_same_bytes(const Access& access, unsigned lane) {
  if (access.values[0] == nullptr) return false;
  for (std::uint32_t i = 0; i < access.bytes; ++i) {
    const std::uint32_t at = access.offset[lane] + i;
    const unsigned earlier = lane_that_stores_before(access, lane, i);
    const std::byte held = earlier == kWarpLanes
                               ? access.allocation->data[at]
                               : stored_byte(access, earlier, at - access.offset[earlier]);
    if (stored_byte(access, lane, i) != held) return false;
  }
  return true;
}

// Returns whether byte `index` of what `lane` stores is undefined, and not only padding.
inline bool stores_undefined(const Access& access, unsigned lane, std::uint32_t index) {
  const bool is_vector = access.elements() > 1;
  const UndefinedLanes value = access.undefined_in(is_vector ? index / access.element_bytes : 0);
  if ((value.mask >> lane & 1u) == 0) return false;
  if (!access.is_partial) return true;
  const std::uint64_t bits = access.undefined_bits_at(index, 1, lane);
  return bits == 0xff || (bits != 0 && (value.values.any() >> lane & 1u) != 0);
}

// Returns whether `lane` stores an undefined value, or finds one where it stores.  Undefined bytes
// may differ on a GPU, however equal they are here.
inline bool involves_undefined(const Access& access, unsigned lane, const Reporter& reporter) {
  for (std::uint32_t i = 0; i < access.bytes; ++i) {
    if (access.undefined != 0 && stores_undefined(access, lane, i)) return true;
    const std::uint32_t at = access.offset[lane] + i;
    const unsigned earlier = lane_that_stores_before(access, lane, i);
    if (earlier == kWarpLanes) {
      if (reporter.holds_undefined(*access.allocation, at)) return true;
    } else if (access.undefined != 0) {
      if (stores_undefined(access, earlier, at - access.offset[earlier])) return true;
    } else if (access.pattern == Pattern::uniform) {
      return false;  // nor do the other bytes
    }
  }
  return false;
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

// Returns whether two lanes of a row access the same bytes.
inline bool lanes_meet(const Access& access) {
  if (access.pattern == Pattern::strided) return false;
  if (access.pattern == Pattern::uniform) return (access.mask & (access.mask - 1)) != 0;
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const std::uint32_t offset = access.offset[static_cast<unsigned>(std::countr_zero(rest))];
    for (std::uint32_t others = rest & (rest - 1); others != 0; others &= others - 1) {
      if (access.offset[static_cast<unsigned>(std::countr_zero(others))] == offset) return true;
    }
  }
  return false;
}

// Returns whether all lanes of a row store the same value to the same place.
inline bool is_one_value(const Access& access) {
  if (access.pattern != Pattern::uniform || access.values[0] == nullptr) return false;
  const unsigned first = access.first_lane();
  for (std::uint32_t rest = access.mask & (access.mask - 1); rest != 0; rest &= rest - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(rest));
    for (std::uint32_t i = 0; i < access.bytes; ++i) {
      if (stored_byte(access, lane, i) != stored_byte(access, first, i)) return false;
    }
  }
  return true;
}

}  // namespace warpcheck::vgpu
