// Specimens: kernels of numbers that go wrong, each as found in published code.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

// Meant: kernels/neural/softmax.hpp.  Without the row's maximum, powers overflow.
cudaError_t softmax_no_maximum(const float* in, float* out, int rows, int columns, dim3 block);
// exp(x) is taken for (1 + x / 1024)^1024.
cudaError_t softmax_fast_power(const float* in, float* out, int rows, int columns, dim3 block);
// A row that is all masked subtracts -infinity from -infinity.
cudaError_t softmax_masked_row(const float* in, float* out, int rows, int columns, dim3 block);

// Meant: kernels/neural/moments.hpp.  The mean of squares less the square of the mean: both are
// large, and their digits cancel.
cudaError_t variance_of_squares(const float* in, float* out, int n, dim3 block);

// Meant: kernels/neural/half_product.hpp.  The sums are halves; sums: room for m * n.
cudaError_t half_product_half_sums(const float* a, const float* b, __half* halves, __half* sums,
                                   float* c, int m, int n, int k);

// Meant: kernels/neural/attention.hpp.  The first tiles that a query does not see leave the maximum
// at -infinity, from which -infinity is subtracted.
cudaError_t attention_masked_tile(const float* queries, const float* keys, const float* values,
                                  float* out, int n, int window, float scale);
