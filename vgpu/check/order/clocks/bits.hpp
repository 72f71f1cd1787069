// Helpers for sets of lanes that are held as bit masks.
#pragma once

#include <bit>
#include <cstdint>

namespace warpcheck::vgpu {

// Calls visit(position) for each set bit, from the lowest up.
template <typename Visit>
void for_each_bit(std::uint32_t bits, Visit visit) {
  for (; bits != 0; bits &= bits - 1) visit(static_cast<unsigned>(std::countr_zero(bits)));
}

// Calls visit(first lane, lanes) for each run of lanes, in ascending order, until it returns false.
// Returns whether all calls returned true.
//   begins: the lanes of `mask` at which a run begins
template <typename Visit>
[[gnu::always_inline]] inline bool for_each_run(std::uint32_t begins, std::uint32_t mask,
                                                Visit visit) {
  while (begins != 0) {
    const auto first = static_cast<unsigned>(std::countr_zero(begins));
    begins &= begins - 1;
    const std::uint32_t before_next = (begins & (0u - begins)) - 1;
    if (!visit(first, mask & ~0u << first & before_next)) return false;
  }
  return true;
}

// Repeats each of the lower 32 bits twice.
constexpr std::uint64_t twice(std::uint64_t bits) {
  bits = (bits | bits << 16) & 0x0000'ffff'0000'ffff;
  bits = (bits | bits << 8) & 0x00ff'00ff'00ff'00ff;
  bits = (bits | bits << 4) & 0x0f0f'0f0f'0f0f'0f0f;
  bits = (bits | bits << 2) & 0x3333'3333'3333'3333;
  bits = (bits | bits << 1) & 0x5555'5555'5555'5555;
  return bits | bits << 1;
}

}  // namespace warpcheck::vgpu
