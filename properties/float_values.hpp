// Special floats, for the tests of pairs.
#pragma once

#include <limits>

namespace warpcheck {

inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kLargest = std::numeric_limits<float>::max();

}  // namespace warpcheck
