// Compensated summation (Kahan 1965) in float, sequential, and the measures that its author's
// host check reports.
#pragma once

#include <vector>

namespace reference {

// The sum of `values`, as `threads` sums of every threads-th value and the sum of those sums.
float kahan_sum(const std::vector<float>& values, int threads = 1);

// The product of two n x n matrices, by rows.
std::vector<float> kahan_matmul(const std::vector<float>& a, const std::vector<float>& b, int n);

// The same, as the published host check computes what it compares with: summed in double, but of
// products that were rounded to float, and rounded to float in the end.
std::vector<float> published_host_matmul(const std::vector<float>& a, const std::vector<float>& b,
                                         int n);

// |out - expected| / |expected|; elements whose expectation is 0 count as right.
struct RelativeErrors {
  double max = 0;
  double average = 0;  // over all elements; 0 where there are none
};
RelativeErrors relative_errors(const std::vector<float>& out, const std::vector<double>& expected);

// What -use_fast_math reads: subnormals as zeros of their sign.
std::vector<float> flushed(std::vector<float> values);

}  // namespace reference
