// Specimens: kernels whose result is their data, out[i] = in[i], and kernels whose result looks
// like it if one forgets a format, a width, a sign, a zero or a NaN.  way: what the kernel does;
// below kWrongWays it is right in exact arithmetic.  properties/wrong_formats_test.cpp says what
// each is.
#pragma once

#include <cuda_runtime_api.h>

inline constexpr int kWrongWays = 100;

// nan: a NaN that the kernel does not know to be one
cudaError_t wrong_floats(const float* in, float* out, int n, float nan, int way);
// zero: 0, which the kernel does not know
cudaError_t wrong_ints(const int* in, int* out, int n, int zero, int way);
cudaError_t wrong_longs(const long long* in, long long* out, int n, int zero, int way);
