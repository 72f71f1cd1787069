// Sequential inclusive scans, obviously right.
#pragma once

#include <vector>

namespace reference {

// out[i] = in[0] + ... + in[i], modulo 2^32 in two's complement.
std::vector<int> inclusive_scan(const std::vector<int>& in);

// The same, summed up from left to right in double and rounded once for each element.
std::vector<float> inclusive_scan(const std::vector<float>& in);

}  // namespace reference
