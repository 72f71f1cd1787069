// Watches of worst_case.hpp for numbers that go wrong: outputs far from what exact arithmetic
// gives, NaNs that a kernel makes, comparisons that turn out otherwise without rounding.
//
// While there are none, a watch says how near the input comes, so that a search has a slope: how
// large results are, how small divisors, how near the operands of comparisons beside their errors.
#pragma once

#include <memory>

#include "fuzz/worst_case.hpp"

namespace warpcheck {

// The largest error of an output, in units in its last place.
std::unique_ptr<WorstCaseWatch> watch_errors();
// The number of outputs that are NaNs, of an input that is finite.
std::unique_ptr<WorstCaseWatch> watch_nans();
// The number of comparisons that the error of an operand decides.
std::unique_ptr<WorstCaseWatch> watch_flips();

}  // namespace warpcheck
