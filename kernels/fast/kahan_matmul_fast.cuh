// The product of two n x n matrices, compensated: off by at most (3u + O(n u^2)) sum|a_ik b_kj|, as
// the sequential compensated sum of the products is.
//
// A block computes a tile of the product, a thread 8 x 4 or 8 x 8 elements of it, of which it
// compensates each sum by itself; factors go through shared memory, the next ones while these are
// used.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/fast/tiles.cuh"

namespace fast {

enum class MatmulOrder {
  none,
  tiles_written,  // barrier: the first factors, before threads read them
  tiles_read,     // barrier: the next factors, before threads read them, and before those that were
                  // read are overwritten
};

// Kahan's sum of products in float; the product is fused with the subtraction of what was lost, so
// it is not rounded by itself: (2u + O(n u^2)) sum|a_i b_i| to first order
// (harness/pair/error_bounds.hpp has the proof for any step: 3u).  Four operations a term.
// Intrinsics, so that no option of the compiler changes them.
struct KahanProducts {
  using Factor = float;
  float sum = 0;
  float lost = 0;

  __device__ __forceinline__ void add(float a, float b) {
    const float term = __fmaf_rn(a, b, -lost);
    const float next = __fadd_rn(sum, term);
    lost = __fsub_rn(__fsub_rn(next, sum), term);
    sum = next;
  }
  __device__ __forceinline__ float result() const { return sum; }
};

// The sum in double, where products of floats are exact: u |sum| + n 2^-53 sum|a_i b_i|.  One
// operation a term, for devices that have as many of them as a quarter of those in float.
struct WideProducts {
  using Factor = double;
  double sum = 0;

  __device__ __forceinline__ void add(double a, double b) { sum = __fma_rn(a, b, sum); }
  __device__ __forceinline__ float result() const { return static_cast<float>(sum); }
};

template <unsigned rows, unsigned columns, unsigned depth, unsigned thread_rows = 8,
          unsigned thread_columns = 8>
struct MatmulShape {
  static constexpr unsigned kRows = rows;        // of the block's tile
  static constexpr unsigned kColumns = columns;  // of the block's tile
  static constexpr unsigned kDepth = depth;      // factors that are in shared memory at once
  static constexpr unsigned kThreadRows = thread_rows;
  static constexpr unsigned kThreadColumns = thread_columns;
  static constexpr unsigned kAcross = columns / thread_columns;  // threads
  static constexpr unsigned kThreads = rows / thread_rows * kAcross;
  static_assert(thread_rows % 4 == 0 && thread_columns % 4 == 0 && depth % 4 == 0);
  static_assert(rows * depth % (4 * kThreads) == 0 && columns * depth % (4 * kThreads) == 0);
};

// Four neighbours in a row of a matrix, 0 beyond its edges.
__device__ __forceinline__ void load_four(const float* matrix, unsigned n, unsigned row,
                                          unsigned column, bool aligned, float* values) {
  const float* const place = matrix + std::size_t{row} * n + column;
  if (aligned && row < n && column < n) {
    const float4 four = *reinterpret_cast<const float4*>(place);
    memcpy(values, &four, sizeof(four));
    return;
  }
#pragma unroll
  for (unsigned i = 0; i < 4; ++i) values[i] = row < n && column + i < n ? place[i] : 0;
}

// What a thread carries from global to shared memory for one tile of each factor.
template <class Shape, class Factor>
struct MatmulCarrier {
  static constexpr unsigned kFoursOfA = Shape::kRows * Shape::kDepth / 4 / Shape::kThreads;
  static constexpr unsigned kFoursOfB = Shape::kColumns * Shape::kDepth / 4 / Shape::kThreads;
  float a[kFoursOfA][4];
  float b[kFoursOfB][4];

  __device__ __forceinline__ void load(const float* from_a, const float* from_b, unsigned n,
                                       unsigned k, bool aligned) {
#pragma unroll
    for (unsigned i = 0; i < kFoursOfA; ++i) {
      const unsigned four = i * Shape::kThreads + threadIdx.x;
      load_four(from_a, n, blockIdx.y * Shape::kRows + four / (Shape::kDepth / 4),
                k + four % (Shape::kDepth / 4) * 4, aligned, a[i]);
    }
#pragma unroll
    for (unsigned i = 0; i < kFoursOfB; ++i) {
      const unsigned four = i * Shape::kThreads + threadIdx.x;
      load_four(from_b, n, k + four / (Shape::kColumns / 4),
                blockIdx.x * Shape::kColumns + four % (Shape::kColumns / 4) * 4, aligned, b[i]);
    }
  }
  // A's tile by columns, so that a thread's rows are neighbours.
  __device__ __forceinline__ void store(Factor (*to_a)[Shape::kRows],
                                        Factor (*to_b)[Shape::kColumns]) const {
#pragma unroll
    for (unsigned i = 0; i < kFoursOfA; ++i) {
      const unsigned four = i * Shape::kThreads + threadIdx.x;
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {
        to_a[four % (Shape::kDepth / 4) * 4 + j][four / (Shape::kDepth / 4)] = a[i][j];
      }
    }
#pragma unroll
    for (unsigned i = 0; i < kFoursOfB; ++i) {
      const unsigned four = i * Shape::kThreads + threadIdx.x;
#pragma unroll
      for (unsigned j = 0; j < 4; ++j) {
        to_b[four / (Shape::kColumns / 4)][four % (Shape::kColumns / 4) * 4 + j] = b[i][j];
      }
    }
  }
};

// A thread's elements lie in fours, and the fours of a row of threads side by side.
template <unsigned count, unsigned threads>
__device__ __forceinline__ unsigned element_of_thread(unsigned thread, unsigned i) {
  return i / 4 * threads * 4 + thread * 4 + i % 4;
}

template <class Products, class Shape, MatmulOrder missing>
__global__ void __launch_bounds__(Shape::kThreads)
    kahan_matmul_fast_kernel(const float* a, const float* b, float* c, unsigned n, bool aligned) {
  using Factor = typename Products::Factor;
  __shared__ __align__(16) Factor tiles_of_a[2][Shape::kDepth][Shape::kRows];
  __shared__ __align__(16) Factor tiles_of_b[2][Shape::kDepth][Shape::kColumns];
  constexpr unsigned kDown = Shape::kRows / Shape::kThreadRows;
  const unsigned across = threadIdx.x % Shape::kAcross;
  const unsigned down = threadIdx.x / Shape::kAcross;
  Products products[Shape::kThreadRows][Shape::kThreadColumns];

  MatmulCarrier<Shape, Factor> carrier;
  carrier.load(a, b, n, 0, aligned);
  carrier.store(tiles_of_a[0], tiles_of_b[0]);
  block_barrier<missing, MatmulOrder::tiles_written>();
  unsigned current = 0;
  for (unsigned k = 0; k < n; k += Shape::kDepth) {
    const bool has_next = k + Shape::kDepth < n;
    if (has_next) carrier.load(a, b, n, k + Shape::kDepth, aligned);
#pragma unroll
    for (unsigned depth = 0; depth < Shape::kDepth; ++depth) {
      Factor of_a[Shape::kThreadRows];
      Factor of_b[Shape::kThreadColumns];
#pragma unroll
      for (unsigned i = 0; i < Shape::kThreadRows; ++i) {
        of_a[i] = tiles_of_a[current][depth][element_of_thread<Shape::kThreadRows, kDown>(down, i)];
      }
#pragma unroll
      for (unsigned j = 0; j < Shape::kThreadColumns; ++j) {
        of_b[j] = tiles_of_b[current][depth]
                            [element_of_thread<Shape::kThreadColumns, Shape::kAcross>(across, j)];
      }
#pragma unroll
      for (unsigned i = 0; i < Shape::kThreadRows; ++i) {
#pragma unroll
        for (unsigned j = 0; j < Shape::kThreadColumns; ++j) products[i][j].add(of_a[i], of_b[j]);
      }
    }
    current ^= 1;
    if (has_next) carrier.store(tiles_of_a[current], tiles_of_b[current]);
    block_barrier<missing, MatmulOrder::tiles_read>();
  }

#pragma unroll
  for (unsigned i = 0; i < Shape::kThreadRows; ++i) {
    const unsigned row =
        blockIdx.y * Shape::kRows + element_of_thread<Shape::kThreadRows, kDown>(down, i);
#pragma unroll
    for (unsigned j = 0; j < Shape::kThreadColumns; ++j) {
      const unsigned column = blockIdx.x * Shape::kColumns +
                              element_of_thread<Shape::kThreadColumns, Shape::kAcross>(across, j);
      if (row < n && column < n) c[std::size_t{row} * n + column] = products[i][j].result();
    }
  }
}

// c = a b, by rows; n <= 32,768.
template <class Products, class Shape, MatmulOrder missing = MatmulOrder::none>
cudaError_t launch_kahan_matmul_fast(const float* a, const float* b, float* c, unsigned n) {
  if (n == 0) return cudaSuccess;
  const dim3 tiles((n + Shape::kColumns - 1) / Shape::kColumns,
                   (n + Shape::kRows - 1) / Shape::kRows);
  kahan_matmul_fast_kernel<Products, Shape, missing>
      <<<tiles, Shape::kThreads>>>(a, b, c, n, n % 4 == 0 && is_aligned(a) && is_aligned(b));
  return cudaGetLastError();
}

}  // namespace fast
