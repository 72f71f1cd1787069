// k-means: assignment with centres in constant memory, sums of a block by atomics on shared
// memory.
// MUTANT: the sums of the block are not cleared.
// expect: uninitialized-read
#include <cmath>

#include "check.hpp"

constexpr int kCentres = 4;
__constant__ float2 centres[kCentres];

__global__ void assign(const float2* points, int n, int* labels, float2* sums, int* counts) {
  __shared__ float2 sum[kCentres];
  __shared__ int count[kCentres];
  if (threadIdx.x < kCentres) {
#ifndef MUTANT
    sum[threadIdx.x] = make_float2(0, 0);
#endif
    count[threadIdx.x] = 0;
  }
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    int best = 0;
    float nearest = INFINITY;
    for (int k = 0; k < kCentres; ++k) {
      const float x = points[i].x - centres[k].x, y = points[i].y - centres[k].y;
      if (x * x + y * y < nearest) nearest = x * x + y * y, best = k;
    }
    labels[i] = best;
    atomicAdd(&sum[best].x, points[i].x);  //~
    atomicAdd(&sum[best].y, points[i].y);  //~
    atomicAdd(count + best, 1);
  }
  __syncthreads();
  if (threadIdx.x < kCentres) {
    atomicAdd(&sums[threadIdx.x].x, sum[threadIdx.x].x);  //~
    atomicAdd(&sums[threadIdx.x].y, sum[threadIdx.x].y);  //~
    atomicAdd(counts + threadIdx.x, count[threadIdx.x]);
  }
}

int main() {
  const int n = 400;
  Buffer<float2> points(n);
  Buffer<int> labels(n);
  for (int i = 0; i < n; ++i) {
    points[i] = make_float2(10 * (i % 2) + std::sin(i), 10 * (i / 2 % 2) + std::cos(i));
  }
  float2 *sums, now[kCentres], sum[kCentres];
  int *counts, count[kCentres];
  require(cudaMalloc(&sums, sizeof sum));
  require(cudaMalloc(&counts, sizeof count));
  for (int k = 0; k < kCentres; ++k) now[k] = points[k];
  for (int round = 0; round < 4; ++round) {
    require(cudaMemcpyToSymbol(centres, now, sizeof now));
    require(cudaMemset(sums, 0, sizeof sum));
    require(cudaMemset(counts, 0, sizeof count));
    assign<<<(n + 127) / 128, 128>>>(points, n, labels, sums, counts);
    require(cudaMemcpy(sum, sums, sizeof sum, cudaMemcpyDeviceToHost));
    require(cudaMemcpy(count, counts, sizeof count, cudaMemcpyDeviceToHost));
    for (int k = 0; k < kCentres; ++k) {
      now[k] = make_float2(sum[k].x / count[k], sum[k].y / count[k]);
    }
  }
  require(cudaFree(counts));
  require(cudaFree(sums));
  bool is_right = true;
  for (int i = 0; i < n; ++i) is_right &= labels[i] == labels[i % 4];
  for (int k = 0; k < kCentres; ++k) {
    is_right &= count[k] == n / 4 && std::abs(now[k].x - 10 * (k % 2)) < 0.5f;
  }
  return verdict(is_right);
}
