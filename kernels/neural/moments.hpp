// Means and variances, and what is made of them.  One block a row; any block up to 128 threads.
#pragma once

#include <cuda_runtime_api.h>

// *out = the mean of (in[i] - mean)^2, of n >= 1 elements, in two passes.
cudaError_t variance(const float* in, float* out, int n, dim3 block);

// *out = a[0] * b[0] + ... + a[n - 1] * b[n - 1]
cudaError_t dot_product(const float* a, const float* b, float* out, int n, dim3 block);

// For each row of a matrix: out = (in - mean) / sqrt(variance + epsilon) * scale + shift, the last
// two for each column.  Ba, Kiros, Hinton, Layer normalization, arXiv:1607.06450, 2016.
constexpr float kLayerNormEpsilon = 1e-5F;
cudaError_t layer_norm_two_pass(const float* in, const float* scale, const float* shift, float* out,
                                int rows, int columns, dim3 block);
// The same with one pass for mean and variance: Welford, Note on a method for calculating corrected
// sums of squares and products, Technometrics 4, 1962; parts are merged as Chan, Golub and LeVeque
// do, Updating formulae and a pairwise algorithm for computing sample variances, 1979.
cudaError_t layer_norm_welford(const float* in, const float* scale, const float* shift, float* out,
                               int rows, int columns, dim3 block);
