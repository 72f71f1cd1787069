// Softmax of each row of a matrix: out[i] = exp(in[i] - m) / sum_j exp(in[j] - m), m the row's
// maximum.  -infinity masks an element: its result is 0, as is each of a row that is all masked.
#pragma once

#include <cuda_runtime_api.h>

// Three passes over a row: maximum, sum, quotients.  One block a row; any block up to 128 threads.
cudaError_t softmax_three_pass(const float* in, float* out, int rows, int columns, dim3 block);

// One pass for maximum and sum together: a sum is scaled when its maximum grows.
// Milakov, Gimelshein, Online normalizer calculation for softmax, arXiv:1805.02867, 2018.
cudaError_t softmax_online(const float* in, float* out, int rows, int columns, dim3 block);
