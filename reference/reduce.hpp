// Sequential reductions, obviously right.
#pragma once

#include <vector>

namespace reference {

// Modulo 2^32 in two's complement; 0 of nothing.
int sum(const std::vector<int>& in);
// Summed up from left to right in double and rounded once; 0 of nothing.
float sum(const std::vector<float>& in);

// INT_MIN and INT_MAX of nothing.
int maximum(const std::vector<int>& in);
int minimum(const std::vector<int>& in);

// Of the numbers: NaN is left out, and +0 is greater than -0.  A NaN where there is no number.
float maximum(const std::vector<float>& in);
float minimum(const std::vector<float>& in);

}  // namespace reference
