// Compensated multiplication of square matrices of any size, through tiles in shared memory.
#pragma once

#include <cuda_runtime_api.h>

inline constexpr int kKahanTile = 16;  // rows and columns of a tile: 256 threads a block

// c = a * b, n x n matrices by rows, 0 <= n <= 46,340; c is another array than a and b.  The same
// products in the same order as kahan_matmul, and so the same bits, error and special values.
cudaError_t kahan_matmul_tiled(const float* a, const float* b, float* c, int n);  // -fmad=false
cudaError_t kahan_matmul_tiled_contracted(const float* a, const float* b, float* c,
                                          int n);  // the default
