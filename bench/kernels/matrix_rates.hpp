// Measured kernels: loops over one instruction of the tensor cores, whose operands come from `in`.
#pragma once

#include <cuda_runtime_api.h>

namespace bench {

inline constexpr int kRateBlocks = 4, kRateThreads = 128, kRateRounds = 32;
inline constexpr int kRateOut = kRateBlocks * kRateThreads;
inline constexpr int kRateWarps = kRateOut / 32;

// kRateRounds products for each warp.  `in` has kRateOut elements; out[i] is of thread i.
cudaError_t matrix_rate_f16(const int* in, int* out, int n);   // m16n8k16, sums in f32
cudaError_t matrix_rate_tf32(const int* in, int* out, int n);  // m16n8k8
cudaError_t matrix_rate_s8(const int* in, int* out, int n);    // m16n8k32
cudaError_t matrix_rate_f64(const int* in, int* out, int n);   // m8n8k4

// The same for the products of 64 x 64 x 16 halves of a warpgroup, which is a block; each product
// is waited for.
cudaError_t warpgroup_rate(const int* in, int* out, int n);

// kRateRounds products of 128 x 64 x 16 halves for each block, whose sums tensor memory holds; one
// thread begins them, and they are waited for together.
cudaError_t tensor_rate(const int* in, int* out, int n);

}  // namespace bench
