// Every addition rounds, and nothing remembers by how much: the error grows with the length.
#include "kernels/specimens/kahan_naive.hpp"

__global__ void naive_sum_kernel(const float* in, float* out, int n) {
  extern __shared__ float sums[];
  float mine = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
    mine += in[i];
  }
  sums[threadIdx.x] = mine;
  __syncthreads();
  if (threadIdx.x != 0) return;
  float all = 0;
  for (unsigned t = 0; t < blockDim.x; ++t) all += sums[t];
  *out = all;
}

cudaError_t naive_sum(const float* in, float* out, int n, dim3 block) {
  naive_sum_kernel<<<1, block, block.x * sizeof(float)>>>(in, out, n);
  return cudaGetLastError();
}

__global__ void naive_matmul_kernel(const float* a, const float* b, float* c, int n) {
  const int element = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int row = element / n;
  const int column = element % n;
  if (row >= n) return;
  float sum = 0;
  for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
  c[element] = sum;
}

cudaError_t naive_matmul(const float* a, const float* b, float* c, int n) {
  if (n == 0) return cudaSuccess;
  constexpr int kThreads = 256;
  naive_matmul_kernel<<<(n * n + kThreads - 1) / kThreads, kThreads>>>(a, b, c, n);
  return cudaGetLastError();
}
