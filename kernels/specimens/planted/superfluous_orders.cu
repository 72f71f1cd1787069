#include "kernels/specimens/planted/superfluous_orders.hpp"

extern __shared__ int superfluous_share[];

__global__ void superfluous_reverse_kernel(const int* in, int* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  __syncthreads();  // superfluous: nothing comes before
  if (t < n) superfluous_share[t] = in[t];
  __syncthreads();  // one of two
  __syncthreads();  // one of two
  const int value = t < n ? superfluous_share[n - 1 - t] : 0;
  __threadfence_block();  // superfluous: the barrier orders more
  if (t < n) out[t] = value;
  __syncthreads();  // superfluous: nothing follows
}

__global__ void superfluous_sums_kernel(const int* in, int* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  int* const sums = superfluous_share + blockDim.x;
  if (t < n) superfluous_share[t] = in[t];
  __threadfence();  // superfluous: one block
  __syncthreads();  // needed
  if (t < n) sums[t] = superfluous_share[t] + (t + 1 < n ? superfluous_share[t + 1] : 0);
  __syncwarp();     // superfluous: each thread reads what it wrote
  __syncthreads();  // superfluous: the same
  if (t < n) out[t] = sums[t];
}

__global__ void superfluous_passes_kernel(const int* in, int* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  int sum = 0;
#pragma unroll 1
  for (int pass = 0; pass < 4; ++pass) {
    __syncthreads();  // superfluous: threads only read
    if (t < n) sum += in[t];
  }
  __threadfence_system();  // superfluous: nobody waits for it
  if (t < n) out[t] = sum;
}

__global__ void counted_threads_kernel(int* out) {
  __shared__ int count;
  if (threadIdx.x == 0) atomicExch(&count, 0);
  __syncthreads();  // needed
  atomicAdd(&count, 1);
  __syncthreads();  // needed, for results alone
  out[threadIdx.x] = atomicAdd(&count, 0);
}

cudaError_t superfluous_reverse(const int* in, int* out, int n, int threads) {
  const std::size_t bytes = static_cast<std::size_t>(threads) * sizeof(int);
  superfluous_reverse_kernel<<<1, threads, bytes>>>(in, out, n);
  return cudaGetLastError();
}

cudaError_t superfluous_sums(const int* in, int* out, int n, int threads) {
  const std::size_t bytes = 2 * static_cast<std::size_t>(threads) * sizeof(int);
  superfluous_sums_kernel<<<1, threads, bytes>>>(in, out, n);
  return cudaGetLastError();
}

cudaError_t superfluous_passes(const int* in, int* out, int n, int threads) {
  superfluous_passes_kernel<<<1, threads>>>(in, out, n);
  return cudaGetLastError();
}

cudaError_t counted_threads(int* out, int n) {
  counted_threads_kernel<<<1, n>>>(out);
  return cudaGetLastError();
}

__global__ void superfluous_histogram_kernel(const int* in, int* out, int n) {
  const unsigned t = threadIdx.x;
  superfluous_share[t] = 0;
  __syncthreads();  // one of two
  __syncthreads();  // one of two
  if (t < n) atomicAdd(&superfluous_share[static_cast<unsigned>(in[t]) % blockDim.x], 1);
  __syncthreads();  // needed
  if (t < n) out[t] = superfluous_share[t];
}

cudaError_t superfluous_histogram(const int* in, int* out, int n, int threads) {
  const std::size_t bytes = static_cast<std::size_t>(threads) * sizeof(int);
  superfluous_histogram_kernel<<<1, threads, bytes>>>(in, out, n);
  return cudaGetLastError();
}
