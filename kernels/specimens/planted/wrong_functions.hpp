// Specimens: correct kernels, and sixty that calculate something else, by the number of what is
// wrong.  0 is correct; properties/equality_test.cpp says what each number is.
#pragma once

#include <cuda_runtime_api.h>

inline constexpr int kWrongBlock = 64;  // threads; the greatest n of a scan

// out[i] = in[0] + ... + in[i], for n <= kWrongBlock.  wrong: 1 to 16
cudaError_t wrong_scan(const float* in, float* out, int n, int wrong);
// *out = the sum of n elements.  wrong: 17 to 30
cudaError_t wrong_sum(const float* in, float* out, int n, int wrong);
// The same, compensated (Kahan 1965), by one thread.  wrong: 31 to 38
cudaError_t wrong_kahan_sum(const float* in, float* out, int n, int wrong);
// c = a * b, of n x n matrices by rows.  wrong: 39 to 50
cudaError_t wrong_matmul(const float* a, const float* b, float* c, int n, int wrong);
// The same for n = 16, of half precision on tensor cores, summed in float.  wrong: b is read
// transposed
cudaError_t half_matmul(const float* a, const float* b, float* c, int n, int wrong);
// The same for n = 64, by products of a warpgroup (wgmma): of half precision; 10 more: of bf16; 20
// more: of tf32.  wrong: 1 to 6
cudaError_t group_matmul(const float* a, const float* b, float* c, int n, int wrong);
// *out = in[0] * 31^(n-1) + ... + in[n-1], modulo 2^32.  wrong: 51 to 60
cudaError_t wrong_hash(const int* in, int* out, int n, int wrong);
