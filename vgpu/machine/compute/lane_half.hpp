// 16-bit floats in lanes: conversions from and to the host's floats, rounded to nearest even.
//
// PTX ISA 9.0, 9.7.4: every NaN result is 0x7fff.  Included only by files that are compiled once
// for every instruction set: see lanes.hpp.
#pragma once

#include "vgpu/machine/compute/lane_float.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {

inline constexpr std::uint32_t kHalfNan = 0x7fff;
inline constexpr std::uint32_t kHalfSign = 0x8000;

// Returns the value of an f16: it has the same fraction as a float with an exponent that is 112
// less; a multiplication corrects that, also for subnormals.
WARPCHECK_INLINE float from_half(std::uint32_t half) {
  const std::uint32_t magnitude = half & 0x7fffu;
  const float finite = float_of<float>(magnitude << 13) * 0x1p112f;
  const float special = float_of<float>(magnitude > 0x7c00 ? FloatLayout<float>::kNan
                                                           : FloatLayout<float>::kInfinity);
  const float value = magnitude < 0x7c00 ? finite : special;
  const std::uint32_t sign = (half & kHalfSign) << 16;
  return magnitude > 0x7c00 ? value : float_of<float>(bits_of(value) | sign);
}

// Returns the nearest f16.  For a result that is a subnormal f16 (units of 2^-24), adding 0.5
// leaves its bits at the end of the fraction; other results are rounded by adding just less than
// half of the last place.
WARPCHECK_INLINE std::uint32_t to_half(float x) {
  const std::uint32_t bits = bits_of(x) & 0x7fffffffu;
  const std::uint32_t small = bits_of(float_of<float>(bits) + 0.5f) - bits_of(0.5f);
  const std::uint32_t normal = (bits - (112u << 23) + 0xfff + (bits >> 13 & 1)) >> 13;
  const std::uint32_t finite = bits < (113u << 23) ? small : normal;
  const std::uint32_t clamped_high = bits >= bits_of(65520.0f) ? 0x7c00 : finite;
  const std::uint32_t sign = bits_of(x) >> 16 & kHalfSign;
  return bits > FloatLayout<float>::kInfinity ? kHalfNan : clamped_high | sign;
}

// Returns the value of a bf16, which is the upper half of a float.
WARPCHECK_INLINE float from_bfloat(std::uint32_t half) { return float_of<float>(half << 16); }

// Returns the nearest bf16.
WARPCHECK_INLINE std::uint32_t to_bfloat(float x) {
  const std::uint32_t bits = bits_of(x);
  const std::uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
  return is_nan(x) ? kHalfNan : rounded;
}

// The same of a double: in units of 2^-133 where the bf16 is subnormal.
WARPCHECK_INLINE std::uint32_t to_bfloat(double x) {
  const std::uint64_t sign = bits_of(x) >> 48 & kHalfSign;
  const std::uint64_t bits = bits_of(x) & ~FloatLayout<double>::kSign;
  constexpr std::uint64_t kFirstNormal = std::uint64_t{1023 - 126} << 52;
  const std::uint64_t small = bits_of(float_of<double>(bits) + 0x1p-81) - bits_of(0x1p-81);
  const std::uint64_t rounded = (bits + 0xfffffffffff + (bits >> 45 & 1)) >> 45;
  const std::uint64_t normal = rounded - (std::uint64_t{1023 - 127} << 7);
  const std::uint64_t finite = bits < kFirstNormal ? small : normal;
  const std::uint64_t clamped_high = bits >= bits_of(0x1p128) ? 0x7f80 : finite;
  const std::uint64_t result = is_nan(x) ? kHalfNan : clamped_high | sign;
  return static_cast<std::uint32_t>(result);
}

// Returns a + b with the last bit set if the sum is inexact, so that a second rounding, to a format
// of at least two bits less, is correct (Boldo and Melquiond, IEEE TC 57(4), 2008).
template <class F>
WARPCHECK_INLINE F sum_to_odd(F a, F b) {
  const F sum = a + b;
  const F part = sum - a;  // TwoSum: sum + error == a + b
  const F error = (a - (sum - part)) + (b - part);
  const Bits<F> bits = bits_of(sum);
  // 1: outward from zero, -1: inward.
  const Bits<F> step = bits_of(error) >> (8 * sizeof(F) - 1) == bits >> (8 * sizeof(F) - 1)
                           ? Bits<F>{1}
                           : ~Bits<F>{0};
  const Bits<F> even_step = (bits & 1) == 0 ? step : 0;
  const Bits<F> inexact_step = absolute(error) > 0 ? even_step : 0;  // not of an infinite sum
  return float_of<F>(bits + inexact_step);
}

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
