// 16-bit floats as their bit patterns: IEEE 754 binary16 (CUDA's half) and bfloat16.
//
// The host has no arithmetic for them; kernels receive them as __half or __nv_bfloat16 by a cast of
// the bits.
#pragma once

#include <cstdint>

#include "harness/generators/generators_floats.hpp"
#include "harness/input/draw.hpp"
#include "vgpu/text/half.hpp"

namespace warpcheck {

// Like floats(): zeros, small integers, neighbours of powers of two, extremes, subnormals,
// infinities, NaNs with payload, and numbers of every exponent; the same classes. Throws
// std::invalid_argument if magnitude_max is negative or NaN.
Gen<std::uint16_t> halves(FloatOptions options = {});
Gen<std::uint16_t> bfloats(FloatOptions options = {});

}  // namespace warpcheck
