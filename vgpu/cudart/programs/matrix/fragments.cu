// wmma fragments of every type: half, bfloat16, tf32, double, bytes; all shapes, both layouts,
// accumulators of half and float; products of larger matrices by tiles.
// arch: compute_80
// MUTANT: a tile is loaded with the row length of the other matrix.
// expect: out-of-bounds
#include <cuda_bf16.h>
#include <mma.h>
#include <type_traits>

#include "check.hpp"

namespace wmma = nvcuda::wmma;

template <typename T>
using Stored = std::conditional_t<std::is_same_v<T, wmma::precision::tf32>, float, T>;

// A warp multiplies one tile: a is kM x kK by rows, b kK x kN in the layout of its columns or
// rows.
template <typename T, typename Sum, int kM, int kN, int kK, typename Layout>
__global__ void multiply(const Stored<T>* a, const Stored<T>* b, Sum* c) {
  wmma::fragment<wmma::matrix_a, kM, kN, kK, T, wmma::row_major> rows;
  wmma::fragment<wmma::matrix_b, kM, kN, kK, T, Layout> columns;
  wmma::fragment<wmma::accumulator, kM, kN, kK, Sum> sums;
  wmma::fill_fragment(sums, Sum(1));
  constexpr bool kByRows = std::is_same_v<Layout, wmma::row_major>;
  wmma::load_matrix_sync(rows, a, kK);
  wmma::load_matrix_sync(columns, b, kByRows ? kN : kK);
  wmma::mma_sync(sums, rows, columns, sums);
  for (int i = 0; i < sums.num_elements; ++i) sums.x[i] = sums.x[i] + sums.x[i];
  wmma::store_matrix_sync(c, sums, kN, wmma::mem_row_major);
}

template <typename T, typename Sum, int kM, int kN, int kK, typename Layout = wmma::col_major>
bool check() {
  constexpr bool kByRows = std::is_same_v<Layout, wmma::row_major>;
  Buffer<Stored<T>> a(kM * kK), b(kK * kN);
  Buffer<Sum> c(kM * kN);
  for (int i = 0; i < kM * kK; ++i) a[i] = static_cast<Stored<T>>(static_cast<float>(i % 5));
  for (int i = 0; i < kK * kN; ++i) b[i] = static_cast<Stored<T>>(static_cast<float>(i % 7));
  multiply<T, Sum, kM, kN, kK, Layout><<<1, 32>>>(a, b, c);
  finish();
  bool is_right = true;
  for (int i = 0; i < kM * kN; ++i) {
    float sum = 1;
    for (int k = 0; k < kK; ++k) {
      const int at = kByRows ? k * kN + i % kN : i % kN * kK + k;
      sum += static_cast<float>(a[i / kN * kK + k]) * static_cast<float>(b[at]);
    }
    is_right &= static_cast<float>(c[i]) == 2 * sum;
  }
  return is_right;
}

// C = A B of n x n matrices, a warp a tile.
__global__ void multiply_tiles(const __half* a, const __half* b, float* c, int n) {
  const int row = blockIdx.y * 16, column = blockIdx.x * 16;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> rows;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::row_major> columns;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums;
  wmma::fill_fragment(sums, 0.0f);
#ifdef MUTANT
  const int length = n + 16;
#else
  const int length = n;
#endif
  for (int k = 0; k < n; k += 16) {
    wmma::load_matrix_sync(rows, a + row * n + k, n);
    wmma::load_matrix_sync(columns, b + k * n + column, length);  //~
    wmma::mma_sync(sums, rows, columns, sums);
  }
  wmma::store_matrix_sync(c + row * n + column, sums, n, wmma::mem_row_major);
}

int main() {
  bool is_right = check<__half, float, 16, 16, 16>() & check<__half, __half, 16, 16, 16>();
  is_right &= check<__half, __half, 32, 8, 16>() & check<__half, float, 8, 32, 16>();
  is_right &= check<__half, __half, 8, 32, 16, wmma::row_major>();
  is_right &= check<__nv_bfloat16, float, 16, 16, 16, wmma::row_major>();
  is_right &= check<__nv_bfloat16, float, 32, 8, 16>() & check<__nv_bfloat16, float, 8, 32, 16>();
  is_right &= check<wmma::precision::tf32, float, 16, 16, 8>() & check<double, double, 8, 8, 4>();
  is_right &= check<signed char, int, 16, 16, 16>() & check<unsigned char, int, 32, 8, 16>();
  const int n = 48;
  Buffer<__half> a(n * n), b(n * n);
  Buffer<float> c(n * n);
  for (int i = 0; i < n * n; ++i) a[i] = __float2half(i % 3), b[i] = __float2half(i % 4 - 1);
  multiply_tiles<<<dim3(3, 3), 32>>>(a, b, c, n);
  finish();
  for (int i = 0; i < n * n; ++i) {
    float sum = 0;
    for (int k = 0; k < n; ++k)
      sum += __half2float(a[i / n * n + k]) * __half2float(b[k * n + i % n]);
    is_right &= c[i] == sum;
  }
  return verdict(is_right);
}
