#include "bench/kernels/block_scan.hpp"

namespace {

__device__ void scan_block(const int* in, int* out) {
  __shared__ int buffers[2][bench::kGroup];
  const int t = static_cast<int>(threadIdx.x);
  const int i = static_cast<int>(blockIdx.x * blockDim.x) + t;
  int from = 0;
  buffers[from][t] = in[i];
  for (int distance = 1; distance < bench::kGroup; distance *= 2) {
    __syncthreads();
    int sum = buffers[from][t];
    if (t >= distance) sum += buffers[from][t - distance];
    from = 1 - from;
    buffers[from][t] = sum;
  }
  out[i] = buffers[from][t];
}

}  // namespace

__global__ void bench_block_scan(const int* in, int* out) { scan_block(in, out); }

// The fence orders nothing relevant, but its presence decides how races are checked.
__global__ void bench_block_scan_fenced(const int* in, int* out) {
  scan_block(in, out);
  __threadfence();
}

cudaError_t bench::block_scan(const int* in, int* out, int n) {
  bench_block_scan<<<n / kGroup, kGroup>>>(in, out);
  return cudaGetLastError();
}

cudaError_t bench::block_scan_fenced(const int* in, int* out, int n) {
  bench_block_scan_fenced<<<n / kGroup, kGroup>>>(in, out);
  return cudaGetLastError();
}
