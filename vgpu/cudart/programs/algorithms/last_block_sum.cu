// A reduction in one launch: the block that takes the last ticket sums what all have written.
// MUTANT: the sums are not released before the ticket is taken.
// expect: data-race
#include "check.hpp"

constexpr int kThreads = 128, kBlocks = 8;
__device__ unsigned tickets;

__global__ void sum(const float* data, int n, float* partial, float* total) {
  __shared__ float sums[kThreads];
  __shared__ bool is_last;
  float mine = 0;
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += kBlocks * kThreads) mine += data[i];
  sums[threadIdx.x] = mine;
  __syncthreads();
  for (int half = kThreads / 2; half > 0; half /= 2) {
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = sums[0];  //~
#ifndef MUTANT
    __threadfence();
#endif
    is_last = atomicInc(&tickets, kBlocks - 1) == kBlocks - 1;
    __threadfence();
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    float result = 0;
    for (int block = 0; block < kBlocks; ++block) result += partial[block];  //~
    *total = result;
  }
}

int main() {
  const int n = 10000;
  Buffer<float> data(n), partial(kBlocks), total(1);
  float expected = 0;
  for (int i = 0; i < n; ++i) expected += data[i] = i % 10;
  bool is_right = true;
  for (int round = 0; round < 2; ++round) {
    sum<<<kBlocks, kThreads>>>(data, n, partial, total);
    finish();
    is_right &= total[0] == expected;
  }
  return verdict(is_right);
}
