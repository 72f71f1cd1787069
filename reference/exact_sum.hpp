// Sums and dot products of floats without any rounding but one at the end, by MPFR.
#pragma once

#include <vector>

namespace reference {

// The sum, rounded once, to the nearest double.  All values must be finite: what a sum of others is
// depends on who sums.  Throws std::invalid_argument otherwise.
double exact_sum(const std::vector<float>& values);

// The products of two n x n matrices, each element rounded once, to the nearest double.
// Elements that need a value that is not finite are NaN.
std::vector<double> exact_matmul(const std::vector<float>& a, const std::vector<float>& b, int n);

}  // namespace reference
