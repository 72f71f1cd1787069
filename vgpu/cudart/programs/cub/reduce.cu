// CUB's device-wide reduction of values that a kernel has made.
// MUTANT: the kernel leaves the last value out.
// expect: uninitialized-read
#include <cub/device/device_reduce.cuh>

#include "check.hpp"

__global__ void make(int* values, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
#ifdef MUTANT
  if (i < n - 1) values[i] = i % 13 - 6;
#else
  if (i < n) values[i] = i % 13 - 6;
#endif
}

int main() {
  const int n = 2500;
  int *values, *sum;
  require(cudaMalloc(&values, n * sizeof(int)));
  require(cudaMalloc(&sum, sizeof(int)));
  make<<<(n + 255) / 256, 256>>>(values, n);
  void* storage = nullptr;
  size_t bytes = 0;
  require(cub::DeviceReduce::Sum(storage, bytes, values, sum, n));
  require(cudaMalloc(&storage, bytes));
  require(cub::DeviceReduce::Sum(storage, bytes, values, sum, n));
  int out = 0, expected = 0;
  require(cudaMemcpy(&out, sum, sizeof out, cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) expected += i % 13 - 6;
  require(cudaFree(storage));
  require(cudaFree(sum));
  require(cudaFree(values));
  return verdict(out == expected);
}
