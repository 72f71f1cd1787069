// Specimens: what the compensated kernels would be without their compensation.
#pragma once

#include <cuda_runtime_api.h>

// Meant: *out = in[0] + ... + in[n - 1] to the accuracy of a compensated sum; see kahan_sum.hpp.
cudaError_t naive_sum(const float* in, float* out, int n, dim3 block);

// Meant: c = a * b to the accuracy of compensated sums; see kahan_matmul.hpp.
cudaError_t naive_matmul(const float* a, const float* b, float* c, int n);
