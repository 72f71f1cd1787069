#include "kernels/specimens/planted/rounded.hpp"

#include <cuda_fp16.h>

namespace {

__device__ __noinline__ __half of_halves(__half x, __half y) { return __hadd(__hmul(x, x), y); }

__device__ float sum_over(const float* values, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += values[i];
  return sum;
}

__device__ float squares_over(const float* values, int n, float mean) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += (values[i] - mean) * (values[i] - mean);
  return sum;
}

}  // namespace

__global__ void rounded_half_polynomial_kernel(const float* in, float* out, int) {
  const __half x = __float2half(in[threadIdx.x]);
  out[threadIdx.x] = __half2float(of_halves(x, x));
}

__global__ void rounded_half_pairs_kernel(const float* in, float* out, int n) {
  const int at = static_cast<int>(threadIdx.x) & ~1;
  const __half2 x = __floats2half2_rn(in[at], in[at + 1 < n ? at + 1 : at]);
  const float2 both = __half22float2(__hfma2(x, x, x));
  out[threadIdx.x] = (threadIdx.x & 1) != 0 ? both.y : both.x;
}

__global__ void rounded_logarithm_kernel(const float* in, float* out, int) {
  out[threadIdx.x] = logf(in[threadIdx.x] * in[0] * in[1]);
}

__global__ void rounded_norm_kernel(const float* in, float* out, int n) {
  const float mean = sum_over(in, n) / static_cast<float>(n);
  const float variance = squares_over(in, n, mean) / static_cast<float>(n);
  out[threadIdx.x] = (in[threadIdx.x] - mean) / sqrtf(variance + 1e-5F);
}

__global__ void rounded_norm_wrong_epsilon_kernel(const float* in, float* out, int n) {
  const float mean = sum_over(in, n) / static_cast<float>(n);
  const float variance = squares_over(in, n, mean) / static_cast<float>(n);
  out[threadIdx.x] = (in[threadIdx.x] - mean) / sqrtf(variance + 1e-3F);
}

__global__ void rounded_norm_of_n_minus_one_kernel(const float* in, float* out, int n) {
  const float mean = sum_over(in, n) / static_cast<float>(n);
  const float variance = squares_over(in, n, mean) / static_cast<float>(n - 1);
  out[threadIdx.x] = (in[threadIdx.x] - mean) / sqrtf(variance + 1e-5F);
}

__global__ void rounded_products_kernel(const float* in, float* out, int n) {
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i] * in[i + 1 < n ? i + 1 : 0];
  out[0] = sum;
}

__global__ void rounded_products_without_last_kernel(const float* in, float* out, int n) {
  if (threadIdx.x != 0) return;
  float sum = 0;
  for (int i = 0; i < n; ++i) {
    if (i % 32 != 31) sum += in[i] * in[i + 1 < n ? i + 1 : 0];
  }
  out[0] = sum;
}

__global__ void rounded_comparison_kernel(const float* in, float* out, int n) {
  const float part = in[threadIdx.x] / 49.0F;
  out[threadIdx.x] = part * 49.0F == in[threadIdx.x] ? 1.0F : 0.0F;
}

#define LAUNCH_ROUNDED(name)                             \
  cudaError_t name(const float* in, float* out, int n) { \
    if (n != 0) name##_kernel<<<1, n>>>(in, out, n);     \
    return cudaGetLastError();                           \
  }

LAUNCH_ROUNDED(rounded_half_polynomial)
LAUNCH_ROUNDED(rounded_half_pairs)
LAUNCH_ROUNDED(rounded_logarithm)
LAUNCH_ROUNDED(rounded_norm)
LAUNCH_ROUNDED(rounded_norm_wrong_epsilon)
LAUNCH_ROUNDED(rounded_norm_of_n_minus_one)
LAUNCH_ROUNDED(rounded_products)
LAUNCH_ROUNDED(rounded_products_without_last)
LAUNCH_ROUNDED(rounded_comparison)
