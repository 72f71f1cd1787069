// A block computes one tile of the product, a thread one element of it, and reads the factors
// tile by tile.  The sum ends where the matrix does, not where the last tile does: adding the
// zeros beyond the edge would apply the compensation once more.
#pragma once

#include "kernels/kahan/kahan.cuh"
#include "kernels/kahan/kahan_matmul_tiled.hpp"

template <class Build>
__global__ void kahan_matmul_tiled_kernel(const float* a, const float* b, float* c, int n) {
  __shared__ float tile_a[kKahanTile][kKahanTile];
  __shared__ float tile_b[kKahanTile][kKahanTile];
  const int x = static_cast<int>(threadIdx.x);
  const int y = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.y) * kKahanTile + y;
  const int column = static_cast<int>(blockIdx.x) * kKahanTile + x;
  KahanSum sum;
  for (int first = 0; first < n; first += kKahanTile) {
    tile_a[y][x] = row < n && first + x < n ? a[row * n + first + x] : 0;
    tile_b[y][x] = first + y < n && column < n ? b[(first + y) * n + column] : 0;
    __syncthreads();
    const int depth = min(kKahanTile, n - first);
    for (int k = 0; k < depth; ++k) sum.add(tile_a[y][k] * tile_b[k][x]);
    __syncthreads();
  }
  if (row < n && column < n) c[row * n + column] = sum.sum;
}

template <class Build>
cudaError_t launch_kahan_matmul_tiled(const float* a, const float* b, float* c, int n) {
  if (n == 0) return cudaSuccess;
  const unsigned tiles = static_cast<unsigned>((n + kKahanTile - 1) / kKahanTile);
  kahan_matmul_tiled_kernel<Build>
      <<<dim3(tiles, tiles), dim3(kKahanTile, kKahanTile)>>>(a, b, c, n);
  return cudaGetLastError();
}
