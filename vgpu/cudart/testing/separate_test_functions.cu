#include <cuda_runtime.h>

#include <new>

#include "vgpu/cudart/testing/separate_test_kernels.hpp"

namespace warpcheck::cudart::separate_test {

__device__ int shared_total = 1000;
__constant__ int factors[2] = {7, 11};

namespace {

__device__ int hidden = 50;
__device__ __noinline__ int local(int x) { return x - hidden; }
__device__ int square(int x) { return x * x; }

struct ByTens : Counter {
  __device__ int next(int x) const override { return 10 * x; }
};

__global__ void total_kernel(int* out) { *out = shared_total; }

}  // namespace

__device__ Function chosen = square;
__device__ int weigh(int x) { return own(x) * factors[0] + local(x); }
__device__ void count(int x) { atomicAdd(&shared_total, x); }
__device__ const Counter* counter() {
  __shared__ ByTens one;
  if (threadIdx.x == 0) new (&one) ByTens;
  __syncthreads();
  return &one;
}

int total() {
  int* out = nullptr;
  cudaMalloc(&out, sizeof(int));
  total_kernel<<<1, 1>>>(out);
  int by_kernel = 0, by_symbol = 0;
  cudaMemcpy(&by_kernel, out, sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(out);
  cudaMemcpyFromSymbol(&by_symbol, shared_total, sizeof(int));
  return by_kernel == by_symbol ? by_kernel : -1;
}

}  // namespace warpcheck::cudart::separate_test
