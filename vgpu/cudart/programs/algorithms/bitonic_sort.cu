// Bitonic sort of a block in shared memory, then merges in global memory.
// MUTANT: the steps in shared memory are not separated.
// expect: data-race, uninitialized-read
#include <algorithm>
#include <vector>

#include "check.hpp"

constexpr int kBlock = 128;

__device__ void order(int& a, int& b, bool ascending) {
  if ((a > b) == ascending) {  //~
    const int held = a;
    a = b;     //~
    b = held;  //~
  }
}

__global__ void sort_blocks(int* data) {
  __shared__ int values[2 * kBlock];
  const int base = blockIdx.x * 2 * kBlock, t = threadIdx.x;
  values[t] = data[base + t];                    //~
  values[t + kBlock] = data[base + t + kBlock];  //~
  for (int size = 2; size <= 2 * kBlock; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
#ifndef MUTANT
      __syncthreads();
#endif
      const int at = 2 * t - (t & (stride - 1));
      const bool ascending = ((base + at) & size) == 0;
      order(values[at], values[at + stride], ascending);
    }
  }
  __syncthreads();
  data[base + t] = values[t];
  data[base + t + kBlock] = values[t + kBlock];
}

__global__ void merge(int* data, int size, int stride) {
  const int t = blockIdx.x * blockDim.x + threadIdx.x, at = 2 * t - (t & (stride - 1));
  order(data[at], data[at + stride], (at & size) == 0);
}

int main() {
  const int n = 2048;
  Buffer<int> data(n);
  for (int i = 0; i < n; ++i) data[i] = i * 7919 % 4096;
  std::vector<int> expected(data.begin(), data.end());
  std::sort(expected.begin(), expected.end());
  sort_blocks<<<n / (2 * kBlock), kBlock>>>(data);
  for (int size = 4 * kBlock; size <= n; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      merge<<<n / (2 * kBlock), kBlock>>>(data, size, stride);
    }
  }
  finish();
  return verdict(std::equal(expected.begin(), expected.end(), data.begin()));
}
