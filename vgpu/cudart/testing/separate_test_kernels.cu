#include <cuda_runtime.h>

#include "vgpu/cudart/testing/separate_test_kernels.hpp"

namespace warpcheck::cudart::separate_test {

namespace {

// Both files have one of this name.
__device__ int hidden = 3;
__device__ __noinline__ int local(int x) { return x * hidden; }

__global__ void kernel(int* out) {
  const int i = static_cast<int>(threadIdx.x);
  count(i);
  out[i] = weigh(i) + local(i) * factors[1] + counter()->next(i) + chosen(i);
}

}  // namespace

__device__ int own(int x) { return x + hidden; }

void run_kernels(int* results) {
  int* out = nullptr;
  cudaMalloc(&out, 32 * sizeof(int));
  kernel<<<1, 32>>>(out);
  cudaMemcpy(results, out, 32 * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(out);
}

}  // namespace warpcheck::cudart::separate_test
