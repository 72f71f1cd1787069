// Floating-point numbers, including the special values of IEEE 754.
#pragma once

#include <concepts>
#include <limits>

#include "harness/input/draw.hpp"

namespace warpcheck {

struct FloatOptions {
  bool nan = true;  // quiet and signalling, any payload, either sign
  bool infinities = true;
  bool subnormals = true;
  bool negative_zero = true;
  double magnitude_max = std::numeric_limits<double>::max();  // of finite values
};

// Floats: zeros, small integers, neighbours of powers of two, extremes, subnormals, infinities,
// NaNs with payload, and numbers of every exponent.  T is float or double.
// Classes, as far as the options admit them: "zero", "negative zero", "integer", "fraction",
// "negative", "power of two", "smallest normal", "subnormal", "smallest subnormal", "largest",
// "infinity", "negative infinity", "NaN", "NaN with payload".
// Throws std::invalid_argument if magnitude_max is negative or NaN.
template <std::floating_point T>
Gen<T> floats(FloatOptions options = {});

extern template Gen<float> floats<float>(FloatOptions);
extern template Gen<double> floats<double>(FloatOptions);

// The order of the values of T, with NaNs and both zeros included (IEEE 754 totalOrder).
template <std::floating_point T>
bool total_less(T a, T b) {
  return std::strong_order(a, b) < 0;
}

}  // namespace warpcheck
