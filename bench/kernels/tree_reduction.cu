#include "bench/kernels/tree_reduction.hpp"

__global__ void bench_tree_reduction(const int* in, int* sums) {
  __shared__ int partial[bench::kReductionGroup];
  const int t = static_cast<int>(threadIdx.x);
  partial[t] = in[static_cast<int>(blockIdx.x * blockDim.x) + t];
  for (int half = bench::kReductionGroup / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) partial[t] += partial[t + half];
  }
  if (t == 0) sums[blockIdx.x] = partial[0];
}

cudaError_t bench::tree_reduction(const int* in, int* sums, int n) {
  bench_tree_reduction<<<n / kReductionGroup, kReductionGroup>>>(in, sums);
  return cudaGetLastError();
}
