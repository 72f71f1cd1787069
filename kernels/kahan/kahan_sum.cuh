// One block sums an array: thread t adds up elements t, t + threads, ...; thread 0 then adds up
// the threads' sums in their order.  Both are compensated.
#pragma once

#include "kernels/kahan/kahan.cuh"

template <class Build>
__global__ void kahan_sum_kernel(const float* in, float* out, int n) {
  extern __shared__ float sums[];
  KahanSum mine;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
    mine.add(in[i]);
  }
  sums[threadIdx.x] = mine.sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  KahanSum all;
  for (unsigned t = 0; t < blockDim.x; ++t) all.add(sums[t]);
  *out = all.sum;
}

template <class Build>
cudaError_t launch_kahan_sum(const float* in, float* out, int n, dim3 block) {
  kahan_sum_kernel<Build><<<1, block, block.x * sizeof(float)>>>(in, out, n);
  return cudaGetLastError();
}
