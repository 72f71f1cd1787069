// The sizes and blocks of a pair that are proved, and their order.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/prove/points.hpp"

namespace warpcheck {

struct Planned {
  std::uint32_t size = 0, block = 0;
};

// Sizes up to `size_max` at every block of `points`, at most `count_max` points: those that tend to
// break kernels come first, and the others are thinned out evenly.
[[nodiscard]] std::vector<Planned> plan(const Points& points, std::uint32_t size_max,
                                        std::uint64_t count_max);

}  // namespace warpcheck
