// Mathematical functions in double that use only correctly rounded operations, so every host gives
// the same bits.
//
// They are for approximate instructions: see compute_approximate.cpp.  Included only by files that
// are compiled once for every instruction set: see lanes.hpp.
#pragma once

#include "vgpu/machine/compute/lane_float.hpp"

namespace warpcheck::vgpu::WARPCHECK_SIMD {

inline constexpr double kLog2E = 1.4426950408889634;
inline constexpr double kLn2 = 0.6931471805599453;
inline constexpr double kPi = 3.141592653589793;

// Returns the nearest integral value, for |x| < 2^51.
WARPCHECK_INLINE double nearest(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

// Returns 2^x, for |x| < 1000, with a relative error below 2^-36.
WARPCHECK_INLINE double exp2_of(double x) {
  const double whole = nearest(x);
  const double y = (x - whole) * kLn2;  // |y| <= 0.347
  // The series of e^y up to y^10 / 10!.
  double sum = 1.0 / 3628800;
  sum = sum * y + 1.0 / 362880;
  sum = sum * y + 1.0 / 40320;
  sum = sum * y + 1.0 / 5040;
  sum = sum * y + 1.0 / 720;
  sum = sum * y + 1.0 / 120;
  sum = sum * y + 1.0 / 24;
  sum = sum * y + 1.0 / 6;
  sum = sum * y + 0.5;
  sum = sum * y + 1.0;
  sum = sum * y + 1.0;
  const auto exponent = static_cast<std::int64_t>(static_cast<std::int32_t>(whole)) + 1023;
  return sum * float_of<double>(static_cast<std::uint64_t>(exponent) << 52);
}

// Returns tanh x, with an absolute and relative error below 2^-20.
WARPCHECK_INLINE double tanh_of(double x) {
  const double bounded = absolute(x) < 20.0 ? absolute(x) : 20.0;
  const double large = 1.0 - 2.0 / (exp2_of(2.0 * kLog2E * bounded) + 1.0);
  const double small = bounded - bounded * bounded * bounded / 3.0;
  const double magnitude = bounded < 0x1p-8 ? small : large;
  return is_nan(x) ? x : with_sign(magnitude, x);
}

}  // namespace warpcheck::vgpu::WARPCHECK_SIMD
