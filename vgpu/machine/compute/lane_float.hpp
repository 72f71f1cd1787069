// Floats in lanes: bits, NaN, flushing and saturation as PTX defines them.
//
// PTX ISA 9.0, 9.7.3 - 9.7.5.  Where the ISA leaves bits open they are those of NVIDIA hardware
// (seen on sm_90), so the host's rules never show:
//   - f32: every NaN result is 0x7fffffff.  f64: the NaN operand, made quiet; of several the one
//     that the operation prefers; 0xfff8000000000000 if no operand is NaN.
//   - .ftz makes zeros of subnormal operands, and of results that are below the normal range when
//     rounded with unlimited exponents.
// Included only by files compiled once for every instruction set: see lanes.hpp.
#pragma once

#include "vgpu/machine/compute/lanes.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {

template <class F>
struct FloatLayout;

template <>
struct FloatLayout<float> {
  static constexpr std::uint32_t kSign = 0x80000000u;
  static constexpr std::uint32_t kInfinity = 0x7f800000u;
  static constexpr std::uint32_t kNan = 0x7fffffffu;
};

template <>
struct FloatLayout<double> {
  static constexpr std::uint64_t kSign = 0x8000000000000000u;
  static constexpr std::uint64_t kInfinity = 0x7ff0000000000000u;
  static constexpr std::uint64_t kQuiet = 0x0008000000000000u;
  static constexpr std::uint64_t kNan = 0xfff8000000000000u;
};

template <class F>
WARPCHECK_INLINE Bits<F> bits_of(F x) {
  return __builtin_bit_cast(Bits<F>, x);
}

template <class F>
WARPCHECK_INLINE F float_of(Bits<F> bits) {
  return __builtin_bit_cast(F, bits);
}

template <class F>
WARPCHECK_INLINE bool is_nan(F x) {
  return x != x;
}

template <class F>
WARPCHECK_INLINE bool is_subnormal_or_zero(F x) {
  return (bits_of(x) & FloatLayout<F>::kInfinity) == 0;
}

template <class F>
WARPCHECK_INLINE F canonical(F x) {
  return is_nan(x) ? float_of<F>(FloatLayout<F>::kNan) : x;
}

// Returns the first NaN operand, made quiet.
WARPCHECK_INLINE double nan_among() { return float_of<double>(FloatLayout<double>::kNan); }
template <class... Fs>
WARPCHECK_INLINE double nan_among(double preferred, Fs... others) {
  const double quiet = float_of<double>(bits_of(preferred) | FloatLayout<double>::kQuiet);
  const double other = nan_among(others...);
  return is_nan(preferred) ? quiet : other;
}

// Returns the final result of an operation: if operands are NaN, the first of them takes
// precedence.
template <class... Fs>
WARPCHECK_INLINE float settled(float result, Fs...) {
  return canonical(result);
}
template <class... Fs>
WARPCHECK_INLINE double settled(double result, Fs... operands) {
  const double nan = nan_among(operands...);
  return is_nan(result) ? nan : result;
}

template <class F>
WARPCHECK_INLINE F absolute(F x) {
  return float_of<F>(bits_of(x) & ~FloatLayout<F>::kSign);
}

// Returns the magnitude of `magnitude` with the sign of `sign`.
template <class F>
WARPCHECK_INLINE F with_sign(F magnitude, F sign) {
  using Layout = FloatLayout<F>;
  return float_of<F>((bits_of(magnitude) & ~Layout::kSign) | (bits_of(sign) & Layout::kSign));
}

// Applies .ftz to an operand.
template <bool kFlush, class F>
WARPCHECK_INLINE F flush(F x) {
  if constexpr (!kFlush) return x;
  const F zero = float_of<F>(bits_of(x) & FloatLayout<F>::kSign);
  return is_subnormal_or_zero(x) ? zero : x;
}

// Applies .ftz to a result.  `scaled` is the same result computed from operands 2^32 times as
// large, so it is normal where the result is close to leaving the normal range.  Large operands may
// overflow in `scaled`, so the result itself is asked, too.
template <bool kFlush>
WARPCHECK_INLINE float flush_result(float result, float scaled) {
  if constexpr (!kFlush) return result;
  const bool tiny = absolute(scaled) < 0x1p-94f && absolute(result) <= 0x1p-126f;
  return tiny ? with_sign(0.0f, result) : result;
}

// Applies .sat: clamps to [0, 1]; NaN gives +0.
template <bool kSaturate, class F>
WARPCHECK_INLINE F saturate(F x) {
  if constexpr (!kSaturate) return x;
  const F below_one = x < F{1} ? x : F{1};
  return x > F{0} ? below_one : F{0};
}

// Returns a fused multiply-add, rounded once to nearest.  If the host has no such instruction: the
// product of two floats is exact in double, and the sum is rounded to odd, so the second rounding,
// to float, is correct (Boldo and Melquiond, IEEE TC 57(4), 2008).
WARPCHECK_INLINE float fused(float a, float b, float c) {
#if defined(__FMA__)
  return __builtin_fmaf(a, b, c);
#else
  const double product = static_cast<double>(a) * b;
  const double addend = c;
  const double sum = product + addend;
  const double part = sum - product;  // TwoSum: sum + error == product + addend
  const double error = (product - (sum - part)) + (addend - part);
  const std::uint64_t bits = bits_of(sum);
  const bool inexact = error != 0 && (bits & 1) == 0 && absolute(sum) < __builtin_inf();
  const bool outward = (error > 0) == (sum > 0);
  const std::uint64_t odd = outward ? bits + 1 : bits - 1;
  return static_cast<float>(float_of<double>(inexact ? odd : bits));
#endif
}

WARPCHECK_INLINE double fused(double a, double b, double c) { return __builtin_fma(a, b, c); }

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
