// Comparisons of a number with the one that an iteration has made of it: n == r after r = n ends a
// loop that has converged.  Rounding decides when that is so, and the result is as good before.
#pragma once

#include <cstdint>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Returns whether a comparison for equality, or of the distance of two numbers, has operands of
// which one becomes the other.
bool compares_iterates(const Program& program, std::uint32_t pc);

}  // namespace warpcheck::vgpu
