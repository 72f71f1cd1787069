#include "bench/kernels/histogram.hpp"

namespace {

__device__ void count_block(const int* in, int* counts) {
  __shared__ int bins[bench::kBins];
  const int t = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x * blockDim.x) + t;
  bins[t] = 0;
  __syncthreads();
  atomicAdd(&bins[in[i] & (bench::kBins - 1)], 1);
  __syncthreads();
  atomicAdd(&counts[t], bins[t]);
}

}  // namespace

__global__ void bench_histogram(const int* in, int* counts) { count_block(in, counts); }

// See block_scan.cu.
__global__ void bench_histogram_fenced(const int* in, int* counts) {
  count_block(in, counts);
  __threadfence();
}

// Each of its atomic operations ends a release pattern.
__global__ void bench_histogram_releasing(const int* in, int* counts) {
  __threadfence();
  count_block(in, counts);
}

cudaError_t bench::histogram(const int* in, int* counts, int n) {
  bench_histogram<<<n / kBins, kBins>>>(in, counts);
  return cudaGetLastError();
}

cudaError_t bench::histogram_releasing(const int* in, int* counts, int n) {
  bench_histogram_releasing<<<n / kBins, kBins>>>(in, counts);
  return cudaGetLastError();
}

cudaError_t bench::histogram_fenced(const int* in, int* counts, int n) {
  bench_histogram_fenced<<<n / kBins, kBins>>>(in, counts);
  return cudaGetLastError();
}
