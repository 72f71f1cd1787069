#include "bench/kernels/histogram.hpp"

__global__ void bench_histogram(const int* in, int* counts) {
  __shared__ int bins[bench::kBins];
  const int t = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x * blockDim.x) + t;
  bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[in[i] & (bench::kBins - 1)], 1);
  __syncthreads();
  atomicAdd(&counts[t], bins[t]);
}

cudaError_t bench::histogram(const int* in, int* counts, int n) {
  bench_histogram<<<n / kBins, kBins>>>(in, counts);
  return cudaGetLastError();
}
