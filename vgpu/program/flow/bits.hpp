// A set of small numbers, such as registers or facts about them, with one bit for each.
#pragma once

#include <cstdint>
#include <vector>

namespace warpcheck::vgpu {

using Bits = std::vector<std::uint64_t>;

inline bool test(const Bits& bits, std::uint32_t at) { return (bits[at / 64] >> at % 64 & 1) != 0; }

inline void assign(Bits& bits, std::uint32_t at, bool value) {
  const std::uint64_t bit = std::uint64_t{1} << at % 64;
  bits[at / 64] = value ? bits[at / 64] | bit : bits[at / 64] & ~bit;
}

}  // namespace warpcheck::vgpu
