// Summands whose sum loses its accuracy, for tests of floating-point sums.
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include "harness/input/draw.hpp"

namespace warpcheck {

// n finite numbers.  In no order does a sum of them overflow or become subnormal.  Shapes: pairs
// that cancel, far from each other; small numbers between two huge ones that cancel; and numbers of
// many magnitudes whose last element cancels all others except for a rounding error. Classes, for n
// > 3: "pairs cancel" (each element but at most one has its negation), "huge beside tiny" (the
// smallest is lost when it is added to the largest), "ill-conditioned" (the sum is less than 2^-16
// of the sum of magnitudes).  T is float or double. Throws std::invalid_argument if n is negative.
template <std::floating_point T>
Gen<std::vector<T>> cancelling_sums(std::int64_t n);

extern template Gen<std::vector<float>> cancelling_sums<float>(std::int64_t);
extern template Gen<std::vector<double>> cancelling_sums<double>(std::int64_t);

}  // namespace warpcheck
