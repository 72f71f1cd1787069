#include "kernels/neural/attention.hpp"

#include <math_constants.h>

// Thread (x, y): column x of the block's query y, or its score with the tile's key x.
__global__ void attention_kernel(const float* queries, const float* keys, const float* values,
                                 float* out, int n, int window, float scale) {
  constexpr int kRows = kAttentionRows, kWidth = kAttentionWidth;
  static_assert(kRows == kWidth, "a thread is a column and a key");
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
    if (next != -CUDART_INF_F) {
      const float shrunk = expf(maximum - next);
      sum *= shrunk;
      result *= shrunk;
      for (int i = 0; i < kRows; ++i) {
        const float weight = expf(score[y][i] - next);
        sum += weight;
        result += weight * value[i][x];
      }
      maximum = next;
    }
    __syncthreads();
  }
  if (row < n) out[row * kWidth + x] = result / sum;
}

cudaError_t attention(const float* queries, const float* keys, const float* values, float* out,
                      int n, int window, float scale) {
  if (n == 0) return cudaSuccess;
  attention_kernel<<<(n + kAttentionRows - 1) / kAttentionRows,
                     dim3(kAttentionWidth, kAttentionRows)>>>(queries, keys, values, out, n, window,
                                                              scale);
  return cudaGetLastError();
}
