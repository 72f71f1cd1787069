// Whether runs of a program under two schedules agree in what they bring to the host: in all bytes,
// but for what does not come from the schedule, and for the rounding of sums.
//
// A kernel that adds floating-point numbers by atomic operations gives results that differ in their
// last digits from one schedule to the next, and may be right.
#pragma once

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "cli/exec/run_output.hpp"

namespace warpcheck {

// Returns whether two runs of one program differ in nothing but floating-point numbers that are
// near each other, and a kernel of theirs adds such numbers by atomic operations.  Numbers are near
// if they differ by at most half of their digits, relative to the largest number of their copy.
//   keys: what differs; both runs have kept its bytes, else they differ in more than rounding
bool differ_in_rounding(const RunOutput& a, const RunOutput& b, std::span<const OutputKey> keys);

// Runs both once more, and keeps the bytes of what differs.
using RepeatBoth = std::function<std::pair<RunOutput, RunOutput>(std::span<const OutputKey>)>;
// Returns whether two runs agree.  What differs when a run is repeated (clocks), or because the
// host has handed something else to the device (its random numbers), is left out.  The runs are
// replaced by repeated ones, if there are any.
bool agree(RunOutput& a, RunOutput& b, const RepeatBoth& repeat);

}  // namespace warpcheck
