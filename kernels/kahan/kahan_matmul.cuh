// One thread computes one element of the product, and adds its terms up with compensation.
#pragma once

#include <ctime>

#include "kernels/kahan/kahan.cuh"
#include "kernels/kahan/kahan_matmul.hpp"

template <class Build>
__global__ void kahan_matmul_kernel(const float* a, const float* b, float* c, int n,
                                    clock_t* cycles) {
  const clock_t start = clock();
  const int element = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = element / n;
  const int column = element % n;
  if (row < n) {
    KahanSum sum;
    for (int k = 0; k < n; ++k) sum.add(a[row * n + k] * b[k * n + column]);
    c[element] = sum.sum;
  }
  if (threadIdx.x == 0) cycles[blockIdx.x] = clock() - start;
}

template <class Build>
cudaError_t launch_kahan_matmul(const float* a, const float* b, float* c, int n, clock_t* cycles) {
  const int blocks = kahan_matmul_blocks(n);
  if (blocks == 0) return cudaSuccess;
  kahan_matmul_kernel<Build><<<blocks, kKahanMatmulThreads>>>(a, b, c, n, cycles);
  return cudaGetLastError();
}
