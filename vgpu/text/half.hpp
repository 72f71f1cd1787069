// The numbers that 16 bits stand for: exact; NaNs keep sign and payload.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace warpcheck {

// Of an f16.
[[nodiscard]] inline float float_of_half(std::uint16_t bits) {
  const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
  const std::uint32_t exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff;
  if (exponent == 0x1f) return std::bit_cast<float>(sign | 0x7f800000u | fraction << 13);
  const float magnitude = exponent == 0 ? std::ldexp(static_cast<float>(fraction), -24)
                                        : std::ldexp(static_cast<float>(fraction | 0x400),
                                                     static_cast<int>(exponent) - 25);
  return sign != 0 ? -magnitude : magnitude;
}

// Of a bf16, which is the upper half of a float.
[[nodiscard]] inline float float_of_bfloat16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace warpcheck
