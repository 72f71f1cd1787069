// Simpler inputs in which equal integers become lower together.
//
// The edges {1,12} and {0,12} of a graph can become {1,2} and {0,2}, although neither of them can
// change alone.
#pragma once

#include "harness/input/function_ref.hpp"
#include "harness/input/json.hpp"

namespace warpcheck {

// Offers the input with all integers of one value above 1 lowered to the same lower value, for each
// value that occurs at least twice, the greatest first, and for each the lowest first.  Returns
// whether one was accepted.
bool for_each_lowering_of_equals(const Json& input, FunctionRef<bool(const Json&)> accept);

}  // namespace warpcheck
