#include "cli/all_sizes/limits_test_kernels.hpp"

namespace {

constexpr int kThreads = 256;

unsigned blocks_of(long long n) { return static_cast<unsigned>((n + kThreads - 1) / kThreads); }

__global__ void triples_kernel(float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[3 * i + 2] = 1;
}

__global__ void grid_stride_kernel(float* out, int n) {
#pragma unroll 1
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {
    out[i] = 1;
  }
}

template <class Index>
__global__ void hundreds_kernel(char* out, long long n) {
  const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i < n) out[static_cast<Index>(i) * 100] = 1;
}

}  // namespace

void triples(float* out, int n) { triples_kernel<<<blocks_of(n), kThreads>>>(out, n); }
void grid_stride(float* out, int n) { grid_stride_kernel<<<blocks_of(n), kThreads>>>(out, n); }
void hundreds(char* out, long long n) { hundreds_kernel<int><<<blocks_of(n), kThreads>>>(out, n); }
void hundreds_of_64(char* out, long long n) {
  hundreds_kernel<long long><<<blocks_of(n), kThreads>>>(out, n);
}
