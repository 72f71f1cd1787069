// A median of nine by a sorting network in registers, and an integral image by scans of rows and
// columns.
// MUTANT: the scan of a row is read before the other warps have added theirs.
// expect: data-race
#include <algorithm>
#include <vector>

#include "check.hpp"

constexpr int kWidth = 64, kHeight = 32;

__global__ void median(const unsigned char* in, unsigned char* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  unsigned char v[9];
#pragma unroll
  for (int i = 0; i < 9; ++i) {
    const int column = min(max(x + i % 3 - 1, 0), kWidth - 1);
    v[i] = in[min(max(y + i / 3 - 1, 0), kHeight - 1) * kWidth + column];
  }
#pragma unroll
  for (int i = 0; i < 5; ++i) {
#pragma unroll
    for (int j = i + 1; j < 9; ++j) {
      const unsigned char low = min(v[i], v[j]), high = max(v[i], v[j]);
      v[i] = low, v[j] = high;
    }
  }
  out[y * kWidth + x] = v[4];
}

__global__ void sum_rows(const unsigned char* in, int* out) {
  __shared__ int totals[kWidth / 32];
  const int x = threadIdx.x, lane = x % 32, warp = x / 32;
  int sum = in[blockIdx.x * kWidth + x];
  for (int distance = 1; distance < 32; distance *= 2) {
    const int other = __shfl_up_sync(~0u, sum, distance);
    if (lane >= distance) sum += other;
  }
  if (lane == 31) totals[warp] = sum;  //~
#ifndef MUTANT
  __syncthreads();
#endif
  for (int i = 0; i < warp; ++i) sum += totals[i];  //~
  out[blockIdx.x * kWidth + x] = sum;
}
__global__ void sum_columns(int* data) {
  int sum = 0;
  for (int y = 0; y < kHeight; ++y)
    data[y * kWidth + threadIdx.x] = sum += data[y * kWidth + threadIdx.x];
}

int main() {
  const int n = kWidth * kHeight;
  Buffer<unsigned char> in(n), filtered(n);
  for (int i = 0; i < n; ++i) in[i] = i * i % 253;
  int* sums;
  require(cudaMalloc(&sums, n * sizeof(int)));
  median<<<dim3(kWidth / 16, kHeight / 8), dim3(16, 8)>>>(in, filtered);
  sum_rows<<<kHeight, kWidth>>>(in, sums);
  sum_columns<<<1, kWidth>>>(sums);
  std::vector<int> integral(n);
  require(cudaMemcpy(integral.data(), sums, n * sizeof(int), cudaMemcpyDeviceToHost));
  require(cudaFree(sums));
  bool is_right = true;
  for (int i = 0; i < n; ++i) {
    const int x = i % kWidth, y = i / kWidth;
    std::vector<int> around;
    int sum = 0;
    for (int k = 0; k < 9; ++k) {
      const int column = std::min(std::max(x + k % 3 - 1, 0), kWidth - 1);
      around.push_back(in[std::min(std::max(y + k / 3 - 1, 0), kHeight - 1) * kWidth + column]);
    }
    for (int j = 0; j <= y; ++j) {
      for (int k = 0; k <= x; ++k) sum += in[j * kWidth + k];
    }
    std::nth_element(around.begin(), around.begin() + 4, around.end());
    is_right &= filtered[i] == around[4] && integral[i] == sum;
  }
  return verdict(is_right);
}
