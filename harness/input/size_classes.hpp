// Sizes that break kernels: the numbers towards which size generators are biased.
#pragma once

#include <bit>
#include <cstdint>

namespace warpcheck {

inline constexpr std::int64_t kWarpSize = 32;

inline bool is_prime(std::int64_t n) {
  if (n < 2 || (n % 2 == 0 && n > 2)) return false;
  for (std::int64_t factor = 3; factor * factor <= n; factor += 2) {
    if (n % factor == 0) return false;
  }
  return true;
}

inline bool is_power_of_two(std::int64_t n) {
  return n > 0 && std::has_single_bit(static_cast<std::uint64_t>(n));
}

// One more or less than a power of two, from 4 on.
inline bool is_near_power_of_two(std::int64_t n) {
  return n > 2 && (is_power_of_two(n - 1) || is_power_of_two(n + 1));
}

// One below, on, or one above a multiple of `period`.
inline bool is_edge(std::int64_t n, std::int64_t period) {
  return n >= period - 1 && (n + 1) % period <= 2;
}

}  // namespace warpcheck
