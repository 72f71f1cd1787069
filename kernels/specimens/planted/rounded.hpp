// Kernels that within_rounding() must accept, and wrong twins of them that it must refuse.
#pragma once

#include <cuda_runtime_api.h>

// One block of n threads; n <= 64, and out[n].
using RoundedKernel = cudaError_t(const float* in, float* out, int n);

// in[i] * in[i] + in[i] in halves, by functions that take and return halves.
RoundedKernel rounded_half_polynomial;
// The same of two halves at a time.
RoundedKernel rounded_half_pairs;
// logf(in[i] * in[0] * in[1])
RoundedKernel rounded_logarithm;
// (in[i] - mean) / sqrt(variance + 1e-5)
RoundedKernel rounded_norm;
RoundedKernel rounded_norm_wrong_epsilon;   // 1e-3
RoundedKernel rounded_norm_of_n_minus_one;  // the variance of a sample
// The sum of in[j] * in[j + 1], the last one with the first, in out[0].
RoundedKernel rounded_products;
RoundedKernel rounded_products_without_last;  // of each warp
// Functions of in[i], by number (properties/rounded_test.cpp); from kRoundedWrong on, the function
// is multiplied by 1 + 2^-12, so that it is another formula.
inline constexpr int kRoundedWrong = 100;
cudaError_t rounded_function(const float* in, float* out, int n, int way);
// Whether in[i] / 49 * 49 is in[i], 1 or 0: without rounding it is.
RoundedKernel rounded_comparison;
