// Rounds floats to halves.
#pragma once

#include <cuda_fp16.h>

// By threads of any grid.
template <class Of>
__global__ void to_half_kernel(const float* in, __half* out, int n) {
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < n;
       i += static_cast<int>(gridDim.x * blockDim.x))
    out[i] = __float2half(in[i]);
}

constexpr int kToHalfThreads = 128;

template <class Of>
void to_half(const float* in, __half* out, int n) {
  to_half_kernel<Of><<<(n + kToHalfThreads - 1) / kToHalfThreads, kToHalfThreads>>>(in, out, n);
}
