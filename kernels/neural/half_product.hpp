// A product of matrices whose factors are rounded to half and whose sums are floats.
#pragma once

#include <cuda_fp16.h>
#include <cuda_runtime_api.h>

constexpr int kHalfProductTile = 16;

// c = a * b, a of m x k and b of k x n floats, by rows; m, n and k are multiples of
// kHalfProductTile.  halves: room for m * k + k * n.  One warp multiplies the tiles of one tile of
// c with the warp-wide operations of the CUDA C++ Programming Guide (wmma).
cudaError_t half_product(const float* a, const float* b, __half* halves, float* c, int m, int n,
                         int k);
