// Converts random bits to random numbers of a distribution, as curand_uniform.h, curand_normal.h
// and curand_poisson.h define them.
#pragma once

#include <cmath>
#include <cstdint>

#include "vgpu/libraries/curand/device_headers.hpp"
#include "vgpu/libraries/fixed_math.hpp"

namespace warpcheck::libraries::random {

template <class T>
struct Pair {
  T first, second;
};

// Box-Muller: two normal numbers from two uniform ones.
inline Pair<float> normal_pair(float radius, float angle) {
  const auto scale = std::sqrt(-2.0F * static_cast<float>(fixed_math::log<double>(radius)));
  const auto [sin, cos] = fixed_math::sin_cos<double>(angle);
  return {static_cast<float>(sin) * scale, static_cast<float>(cos) * scale};
}

// half_turns: the angle, divided by pi
inline Pair<double> normal_pair(double radius, double half_turns) {
  const double scale = std::sqrt(-2.0 * static_cast<double>(fixed_math::log<long double>(radius)));
  const auto [sin, cos] = fixed_math::sin_cos_pi<long double>(half_turns);
  return {static_cast<double>(sin) * scale, static_cast<double>(cos) * scale};
}

inline Pair<float> normal_pair_of_bits(std::uint32_t x, std::uint32_t y) {
  const float radius = static_cast<float>(x) * CURAND_2POW32_INV + CURAND_2POW32_INV / 2;
  const float angle = static_cast<float>(y) * CURAND_2POW32_INV_2PI + CURAND_2POW32_INV_2PI / 2;
  return normal_pair(radius, angle);
}

inline Pair<double> normal_pair_of_bits(std::uint32_t x0, std::uint32_t x1, std::uint32_t y0,
                                        std::uint32_t y1) {
  const double radius = _curand_uniform_double_hq(x0, x1);
  const std::uint64_t y = std::uint64_t{y0} ^ (std::uint64_t{y1} << (53 - 32));
  const double half_turns =
      static_cast<double>(y) * (CURAND_2POW53_INV_DOUBLE * 2.0) + CURAND_2POW53_INV_DOUBLE;
  return normal_pair(radius, half_turns);
}

// By the inverse distribution function: one normal number from one uniform number.  The upper half
// is mirrored, so that no bits are lost.
inline float normal_of_bits(std::uint32_t bits) {
  const bool is_upper = bits > 0x80000000U;
  if (is_upper) bits = 0xffffffffU - bits;
  const float p = static_cast<float>(bits) * CURAND_2POW32_INV + CURAND_2POW32_INV / 2.0F;
  const auto value = static_cast<float>(fixed_math::normal_quantile<double>(p));
  return is_upper ? -value : value;
}
inline float normal_of_bits(std::uint64_t bits) {
  return normal_of_bits(static_cast<std::uint32_t>(bits >> 32));
}

inline double normal_double_of_bits(std::uint32_t bits) {
  const bool is_upper = bits > 0x80000000U;
  if (is_upper) bits = 0xffffffffU - bits;
  const double p = bits * CURAND_2POW32_INV_DOUBLE + CURAND_2POW32_INV_DOUBLE / 2.0;
  const auto value = static_cast<double>(fixed_math::normal_quantile<long double>(p));
  return is_upper ? -value : value;
}
inline double normal_double_of_bits(std::uint64_t bits) {
  bits >>= 11;
  const bool is_upper = bits > 0x10000000000000U;
  if (is_upper) bits = 0x1fffffffffffffU - bits;
  const double p =
      static_cast<double>(bits) * CURAND_2POW53_INV_DOUBLE + CURAND_2POW53_INV_DOUBLE / 2.0;
  const auto value = static_cast<double>(fixed_math::normal_quantile<long double>(p));
  return is_upper ? -value : value;
}

}  // namespace warpcheck::libraries::random
