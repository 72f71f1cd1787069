// Tells sums that were rounded in another order from other differences between runs.
//
// A kernel that adds floating-point numbers by atomic operations gives results that differ in their
// last digits from one schedule to the next, and may be right.
#pragma once

#include <span>

#include "cli/exec/run_output.hpp"

namespace warpcheck {

// Returns whether two runs of one program differ in nothing but floating-point numbers that are
// near each other, and a kernel of theirs adds such numbers by atomic operations.  Numbers are near
// if they differ by at most half of their digits, relative to the largest number of their copy.
//   keys: what differs; both runs have kept its bytes, else they differ in more than rounding
bool differ_in_rounding(const RunOutput& a, const RunOutput& b, std::span<const OutputKey> keys);

}  // namespace warpcheck
