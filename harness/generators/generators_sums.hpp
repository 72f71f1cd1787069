// Summands that lose their sum: what sums of floats are tested with.
#pragma once

#include <concepts>
#include <cstdint>
#include <vector>

#include "harness/input/draw.hpp"

namespace warpcheck {

// n finite numbers, no sum of which overflows or becomes subnormal, in any order: pairs that
// cancel, far from each other; small ones between two huge ones that cancel; and numbers of many
// magnitudes whose last takes all the others away but for a rounding error.
// Classes, for n > 3: "pairs cancel" (each has its negation, but for at most one), "huge beside
// tiny" (the smallest is lost beside the largest), "ill-conditioned" (the sum is less than 2^-16
// of the sum of magnitudes).  T is float or double.
// Throws std::invalid_argument if n is negative.
template <std::floating_point T>
Gen<std::vector<T>> cancelling_sums(std::int64_t n);

extern template Gen<std::vector<float>> cancelling_sums<float>(std::int64_t);
extern template Gen<std::vector<double>> cancelling_sums<double>(std::int64_t);

}  // namespace warpcheck
