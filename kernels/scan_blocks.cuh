// The two steps that every scan over several blocks has: a scan within each block, and adding
// what all blocks before have summed up.
#pragma once

#include "kernels/block_scan.cuh"

// out[i] = the sum of in[j .. i], where j is the first element of i's block.  Dynamic shared
// memory: 2 * blockDim.x elements.  In place when in == out.
template <class T>
__global__ void scan_blocks_kernel(const T* in, T* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const T sum = scan_of_threads(i < n ? in[i] : T{}, dynamic_shared<T>());
  if (i < n) out[i] = sum;
}

// sums[b] = the last element of block b, for b < count blocks of `width` elements.
template <class T>
__global__ void select_block_sums_kernel(const T* scanned, T* sums, int n, int width, int count) {
  const int b = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (b < count) sums[b] = scanned[min((b + 1) * width, n) - 1];
}

// Adds sums[b - 1], the inclusive scan of the block sums, to every element of block b > 0.
template <class T>
__global__ void add_block_sums_kernel(T* out, const T* sums, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (blockIdx.x > 0 && i < n) out[i] += sums[blockIdx.x - 1];
}
