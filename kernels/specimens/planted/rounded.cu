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

// Functions whose rounding is directed, or that are approximate, or that take numbers apart.
__device__ float function_of(int way, float x) {
  const double wide = x;
  const __half half = __float2half(x);
  switch (way) {
    case 0: return __frsqrt_rn(x);
    case 1: return rsqrtf(x);
    case 2: return __fsqrt_rd(x);
    case 3: return __fsqrt_ru(x) + __fsqrt_rz(x);
    case 4: return __fmaf_rz(x, x, x);
    case 5: return __fmaf_ru(x, x, -0.1F);
    case 6: return __fadd_rd(__fmul_rz(x, x), x);
    case 7: return __fdiv_ru(1.1F, x) - __frcp_rz(x);
    case 8: return __fdividef(x, x + 1);
    case 9: return __expf(x);
    case 10: return __logf(x);
    case 11: return __log2f(x) + __log10f(x);
    case 12: return __powf(x, 1.5F);
    case 13: return __sinf(x);
    case 14: return __cosf(x);
    case 15: return expf(x);
    case 16: return exp2f(x) + exp10f(x);
    case 17: return log2f(x);
    case 18: return log10f(x);
    case 19: return log1pf(x);
    case 20: return expm1f(x);
    case 21: return cbrtf(x);
    case 22: return rcbrtf(x);
    case 23: return hypotf(x, 2);
    case 24: return rhypotf(x, 2);
    case 25: return norm3df(x, 1, 2);
    case 26: return sinhf(x);
    case 27: return coshf(x);
    case 28: return tanhf(x);
    case 29: return sinf(x);
    case 30: return cosf(x);
    case 31: return powf(x, 1.5F);
    case 32: return static_cast<float>(rsqrt(wide));
    case 33: return static_cast<float>(exp(wide));
    case 34: return static_cast<float>(log(wide));
    case 35: return static_cast<float>(cbrt(wide));
    case 36: return static_cast<float>(__dsqrt_rd(wide) + __drcp_ru(wide));
    case 37: return static_cast<float>(__dadd_rz(wide, __dmul_rd(wide, wide)));
    case 38: return __half2float(hsqrt(half));
    case 39: return __half2float(hrsqrt(half));
    case 40: return __half2float(hrcp(half));
    case 41: return __half2float(hexp(half));
    case 42: return __half2float(hlog(half));
    case 43: return __half2float(hexp2(half));
    case 44: return __half2float(__hdiv(half, __float2half(3.0F)));
    case 45: return __half2float(__float2half_rz(x)) + __half2float(__float2half_ru(x));
    case 46: return __tanf(x);
    case 47: return tanf(x);
    case 48: return asinhf(x);
    case 49: return acoshf(x + 1);
    case 50: return static_cast<float>(sinh(wide));
    case 51: return static_cast<float>(pow(wide, 1.5));
    default: return ldexpf(x, 3) + scalbnf(x, -2);
  }
}

}  // namespace

__global__ void rounded_function_kernel(const float* in, float* out, int way) {
  const float factor = way < kRoundedWrong ? 1.0F : 1 + 0x1p-12F;
  out[threadIdx.x] = factor * function_of(way % kRoundedWrong, in[threadIdx.x]);
}

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

cudaError_t rounded_function(const float* in, float* out, int n, int way) {
  if (n != 0) rounded_function_kernel<<<1, n>>>(in, out, way);
  return cudaGetLastError();
}
