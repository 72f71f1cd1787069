// Integers of which some bits are undefined: which bits of a sum, a difference or a product depend
// on them, and which comparisons do not.
#pragma once

#include <bit>
#include <cstdint>

#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

// Its undefined bits have no value.
struct Known {
  std::uint64_t value = 0, undefined = 0;
  [[nodiscard]] std::uint64_t least() const { return value & ~undefined; }
  [[nodiscard]] std::uint64_t most() const { return value | undefined; }
};

// Returns the undefined bits of a sum: those of its operands, and those that a carry may reach,
// which lie between the carries of the smallest and the largest possible sum.
inline std::uint64_t undefined_of_sum(const Known& a, const Known& b) {
  return a.undefined | b.undefined | ((a.least() + b.least()) ^ (a.most() + b.most()));
}
inline std::uint64_t undefined_of_difference(const Known& a, const Known& b) {
  return a.undefined | b.undefined | ((a.least() - b.most()) ^ (a.most() - b.least()));
}

// The undefined bits of a sum with a carry of one bit, and whether its carry-out is undefined.
struct CarriedSum {
  std::uint64_t bits;
  bool carry;
};
//   bits: of the type
inline CarriedSum carried_sum(const Known& a, const Known& b, const Known& carry, unsigned bits) {
  __extension__ using Wide = unsigned __int128;
  const Wide least = Wide{a.least()} + b.least() + carry.least();
  const Wide most = Wide{a.most()} + b.most() + carry.most();
  const Wide different = least ^ most;
  const std::uint64_t undefined =
      a.undefined | b.undefined | carry.undefined | static_cast<std::uint64_t>(different);
  return {undefined & ~std::uint64_t{0} >> (64 - bits), (different >> bits) != 0};
}

// A product with a power of two is a shift.  In other products, a bit does not depend on higher
// bits of the operands.
inline std::uint64_t undefined_of_product(const Known& a, const Known& b) {
  if (b.undefined == 0 && std::has_single_bit(b.value)) {
    return a.undefined << std::countr_zero(b.value);
  }
  if (a.undefined == 0 && std::has_single_bit(a.value)) {
    return b.undefined << std::countr_zero(a.value);
  }
  const std::uint64_t either = a.undefined | b.undefined;
  return ~((either & -either) - 1);
}

inline bool is_equality(ptx::Compare compare) {
  return compare == ptx::Compare::eq || compare == ptx::Compare::ne;
}

// Returns whether the defined bits alone decide a comparison of unsigned integers.
inline bool decides(ptx::Compare compare, const Known& a, const Known& b) {
  using enum ptx::Compare;
  switch (compare) {
    case lt:
    case ge:
    case lo:
    case hs: return a.most() < b.least() || a.least() >= b.most();
    case le:
    case gt:
    case ls:
    case hi: return a.most() <= b.least() || a.least() > b.most();
    default: {
      const std::uint64_t undefined = a.undefined | b.undefined;
      return undefined == 0 || (is_equality(compare) && ((a.value ^ b.value) & ~undefined) != 0);
    }
  }
}

}  // namespace warpcheck::vgpu
