// Floats of 4, 6 and 8 bits, which have no registers of their own, and scales.
//
// e5m2 is an IEEE format.  The others have numbers where those have infinities: e4m3 has one NaN,
// e2m3, e3m2 and e2m1 have none.  ue8m0 is a power of two, from 2^-127 to 2^127, or NaN.
// Source: PTX ISA 9.0, 5.2.3 (alternate floating-point formats), 9.7.9.21 (cvt); what the text
// leaves open (NaN, scales that are rounded up) is as in the functions for the host of the
// toolkit's cuda_fp4.h, cuda_fp6.h and cuda_fp8.h, with which narrow_floats_test.cpp compares.
#pragma once

#include <cstdint>

#include "vgpu/machine/compute/exact.hpp"
#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu::narrow {

// Instruction types are those of pairs: e4m3x2 for e4m3.
constexpr bool is_narrow_float(ptx::Type type) {
  return type >= ptx::Type::e2m1x2 && type <= ptx::Type::e5m2x2;
}

// The distance in bits from one element of a pair to the next.
constexpr unsigned stride_bits(ptx::Type type) { return type == ptx::Type::e2m1x2 ? 4 : 8; }

exact::Number unpack(ptx::Type type, std::uint32_t bits);
// Rounds to nearest; values that are too large become the largest number.
std::uint32_t pack(ptx::Type type, exact::Number x);
// Rounds away from zero if the sum of 16 random bits and the first 16 bits that are dropped has a
// carry.
std::uint32_t pack_randomly(ptx::Type type, exact::Number x, std::uint32_t random);

// Returns the power of two at or below |x| (`up`: at or above it), for an f32 x.
std::uint32_t scale_of(std::uint32_t f32, bool up, bool finite);
// Returns the scale as a bf16.
std::uint32_t bfloat_of_scale(std::uint32_t scale);

}  // namespace warpcheck::vgpu::narrow
