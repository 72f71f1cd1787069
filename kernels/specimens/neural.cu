#include "kernels/specimens/neural.hpp"

#include <math_constants.h>
#include <mma.h>

#include "kernels/neural/attention.hpp"
#include "kernels/neural/half_product.hpp"
#include "kernels/neural/to_half.cuh"

namespace {

struct HalfSums;
constexpr unsigned kThreadsMax = 128;

struct ToolkitsPower {
  __device__ static float of(float x) { return expf(x); }
};
// Ten squares.
struct FastPower {
  __device__ static float of(float x) {
    float power = 1 + x / 1024;
    for (int i = 0; i < 10; ++i) power *= power;
    return x < -1024 ? 0 : power;
  }
};

__device__ float sum_of_block(float mine, float* shared) {
  shared[threadIdx.x] = mine;
  __syncthreads();
  float sum = 0;
  for (unsigned t = 0; t < blockDim.x; ++t) sum += shared[t];
  __syncthreads();
  return sum;
}

template <class Power>
__device__ void divide_powers(const float* row, float* out, int columns, float maximum,
                              float* shared) {
  const int first = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);
  float sum = 0;
  for (int i = first; i < columns; i += step) sum += Power::of(row[i] - maximum);
  sum = sum_of_block(sum, shared);
  for (int i = first; i < columns; i += step)
    out[i] = sum == 0 ? 0 : Power::of(row[i] - maximum) / sum;
}

__device__ float maximum_of(const float* row, int columns, float* shared) {
  float maximum = -CUDART_INF_F;
  for (int i = static_cast<int>(threadIdx.x); i < columns; i += static_cast<int>(blockDim.x))
    maximum = fmaxf(maximum, row[i]);
  shared[threadIdx.x] = maximum;
  __syncthreads();
  for (unsigned t = 0; t < blockDim.x; ++t) maximum = fmaxf(maximum, shared[t]);
  __syncthreads();
  return maximum;
}

}  // namespace

__global__ void softmax_no_maximum_kernel(const float* in, float* out, int columns) {
  __shared__ float shared[kThreadsMax];
  const int at = static_cast<int>(blockIdx.x) * columns;
  divide_powers<ToolkitsPower>(in + at, out + at, columns, 0, shared);
}

__global__ void softmax_fast_power_kernel(const float* in, float* out, int columns) {
  __shared__ float shared[kThreadsMax];
  const int at = static_cast<int>(blockIdx.x) * columns;
  const float maximum = maximum_of(in + at, columns, shared);
  divide_powers<FastPower>(in + at, out + at, columns, fmaxf(maximum, -CUDART_MAX_NORMAL_F),
                           shared);
}

__global__ void softmax_masked_row_kernel(const float* in, float* out, int columns) {
  __shared__ float shared[kThreadsMax];
  const int at = static_cast<int>(blockIdx.x) * columns;
  divide_powers<ToolkitsPower>(in + at, out + at, columns, maximum_of(in + at, columns, shared),
                               shared);
}

__global__ void variance_of_squares_kernel(const float* in, float* out, int n) {
  __shared__ float shared[kThreadsMax];
  float sum = 0, squares = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
    sum += in[i];
    squares += in[i] * in[i];
  }
  sum = sum_of_block(sum, shared);
  squares = sum_of_block(squares, shared);
  const float count = static_cast<float>(n);
  if (threadIdx.x == 0) *out = squares / count - (sum / count) * (sum / count);
}

__global__ void half_product_half_sums_kernel(const __half* a, const __half* b, __half* c, int n,
                                              int k) {
  using namespace nvcuda;
  constexpr int kTile = kHalfProductTile;
  const int row = static_cast<int>(blockIdx.y) * kTile,
            column = static_cast<int>(blockIdx.x) * kTile;
  wmma::fragment<wmma::matrix_a, kTile, kTile, kTile, __half, wmma::row_major> left;
  wmma::fragment<wmma::matrix_b, kTile, kTile, kTile, __half, wmma::row_major> right;
  wmma::fragment<wmma::accumulator, kTile, kTile, kTile, __half> sums;
  wmma::fill_fragment(sums, __float2half(0.0F));
  for (int i = 0; i < k; i += kTile) {
    wmma::load_matrix_sync(left, a + row * k + i, k);
    wmma::load_matrix_sync(right, b + i * n + column, n);
    wmma::mma_sync(sums, left, right, sums);
  }
  wmma::store_matrix_sync(c + row * n + column, sums, n, wmma::mem_row_major);
}

__global__ void to_float_kernel(const __half* in, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = __half2float(in[i]);
}

__global__ void attention_masked_tile_kernel(const float* queries, const float* keys,
                                             const float* values, float* out, int n, int window,
                                             float scale) {
  constexpr int kRows = kAttentionRows, kWidth = kAttentionWidth;
  __shared__ float query[kRows][kWidth], key[kRows][kWidth], value[kRows][kWidth];
  __shared__ float score[kRows][kRows];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int row = static_cast<int>(blockIdx.x) * kRows + y;
  query[y][x] = row < n ? queries[row * kWidth + x] : 0;
  float maximum = -CUDART_INF_F, sum = 0, result = 0;
  for (int first = 0; first < n; first += kRows) {
    const int of_tile = first + y;
    key[y][x] = of_tile < n ? keys[of_tile * kWidth + x] : 0;
    value[y][x] = of_tile < n ? values[of_tile * kWidth + x] : 0;
    __syncthreads();
    const int column = first + x;
    const bool is_seen = column < n && column <= row && row - column < window;
    float product = 0;
    for (int i = 0; i < kWidth; ++i) product += query[y][i] * key[x][i];
    score[y][x] = is_seen ? product * scale : -CUDART_INF_F;
    __syncthreads();
    float next = maximum;
    for (int i = 0; i < kRows; ++i) next = fmaxf(next, score[y][i]);
    const float shrunk = expf(maximum - next);
    sum *= shrunk;
    result *= shrunk;
    for (int i = 0; i < kRows; ++i) {
      const float weight = expf(score[y][i] - next);
      sum += weight;
      result += weight * value[i][x];
    }
    maximum = next;
    __syncthreads();
  }
  if (row < n) out[row * kWidth + x] = result / sum;
}

cudaError_t softmax_no_maximum(const float* in, float* out, int rows, int columns, dim3 block) {
  if (rows == 0) return cudaSuccess;
  softmax_no_maximum_kernel<<<rows, block>>>(in, out, columns);
  return cudaGetLastError();
}

cudaError_t softmax_fast_power(const float* in, float* out, int rows, int columns, dim3 block) {
  if (rows == 0) return cudaSuccess;
  softmax_fast_power_kernel<<<rows, block>>>(in, out, columns);
  return cudaGetLastError();
}

cudaError_t softmax_masked_row(const float* in, float* out, int rows, int columns, dim3 block) {
  if (rows == 0) return cudaSuccess;
  softmax_masked_row_kernel<<<rows, block>>>(in, out, columns);
  return cudaGetLastError();
}

cudaError_t variance_of_squares(const float* in, float* out, int n, dim3 block) {
  variance_of_squares_kernel<<<1, block>>>(in, out, n);
  return cudaGetLastError();
}

cudaError_t half_product_half_sums(const float* a, const float* b, __half* halves, __half* sums,
                                   float* c, int m, int n, int k) {
  if (m == 0 || n == 0) return cudaSuccess;
  if (k != 0) {
    to_half<HalfSums>(a, halves, m * k);
    to_half<HalfSums>(b, halves + m * k, k * n);
  }
  half_product_half_sums_kernel<<<dim3(n / kHalfProductTile, m / kHalfProductTile), 32>>>(
      halves, halves + m * k, sums, n, k);
  constexpr int kThreads = 128;
  to_float_kernel<<<(m * n + kThreads - 1) / kThreads, kThreads>>>(sums, c, m * n);
  return cudaGetLastError();
}

cudaError_t attention_masked_tile(const float* queries, const float* keys, const float* values,
                                  float* out, int n, int window, float scale) {
  if (n == 0) return cudaSuccess;
  attention_masked_tile_kernel<<<(n + kAttentionRows - 1) / kAttentionRows,
                                 dim3(kAttentionWidth, kAttentionRows)>>>(queries, keys, values,
                                                                          out, n, window, scale);
  return cudaGetLastError();
}
