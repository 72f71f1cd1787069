// Sets of lanes as masks.
#pragma once

#include <bit>
#include <cstdint>

namespace warpcheck::vgpu {

// The positions of the bits that are set, from the lowest up.
template <typename Visit>
void for_each_bit(std::uint32_t bits, Visit visit) {
  for (; bits != 0; bits &= bits - 1) visit(static_cast<unsigned>(std::countr_zero(bits)));
}

}  // namespace warpcheck::vgpu
