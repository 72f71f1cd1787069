#include "kernels/neural/half_product.hpp"

#include <mma.h>

#include "kernels/neural/to_half.cuh"

namespace {
struct HalfProduct;
}  // namespace

__global__ void half_product_kernel(const __half* a, const __half* b, float* c, int n, int k) {
  using namespace nvcuda;
  constexpr int kTile = kHalfProductTile;
  const int row = static_cast<int>(blockIdx.y) * kTile,
            column = static_cast<int>(blockIdx.x) * kTile;
  wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, __half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, kTile, kTile, kTile, float> sums;
  wmma::fill_fragment(sums, 0.0F);
  for (int i = 0; i < k; i += kTile) {
    wmma::load_matrix_sync(left, a + row * k + i, k);
    wmma::load_matrix_sync(right, b + i * n + column, n);
    wmma::mma_sync(sums, left, right, sums);
  }
  wmma::store_matrix_sync(c + row * n + column, sums, n, wmma::mem_row_major);
}

cudaError_t half_product(const float* a, const float* b, __half* halves, float* c, int m, int n,
                         int k) {
  if (m == 0 || n == 0) return cudaSuccess;
  if (k != 0) {
    to_half<HalfProduct>(a, halves, m * k);
    to_half<HalfProduct>(b, halves + m * k, k * n);
  }
  half_product_kernel<<<dim3(n / kHalfProductTile, m / kHalfProductTile), 32>>>(
      halves, halves + m * k, c, n, k);
  return cudaGetLastError();
}
