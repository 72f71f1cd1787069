// Sum of an array by one block of any size, compensated (Kahan 1965).
//
// |out - sum| is at most about 3u * sum|in[i]| for one thread and 6u for more, u = 2^-24, however
// long the array: harness/pair/error_bounds.hpp derives it.  What is not an ordinary number:
//   NaN         gives NaN.
//   infinities  give NaN, unless the infinity is the last that its thread adds and that thread's
//               sum the last that thread 0 adds: the compensation of an infinity is inf - inf.
//   overflow    of a partial sum likewise, even where the whole sum is in range.
//   subnormals  are exact: additions of floats never lose anything by underflow.
// Under -use_fast_math subnormals are read and written as zeros, and the bound grows by 2^-126
// for every operation.
#pragma once

#include <cuda_runtime_api.h>

// *out = in[0] + ... + in[n - 1], 0 where n = 0.  The suffix names the build.
cudaError_t kahan_sum(const float* in, float* out, int n, dim3 block);             // -fmad=false
cudaError_t kahan_sum_contracted(const float* in, float* out, int n, dim3 block);  // the default
cudaError_t kahan_sum_fast_math(const float* in, float* out, int n, dim3 block);   // -use_fast_math
