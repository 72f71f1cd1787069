// half and bfloat16: conversions, arithmetic, comparisons, vectors of two, functions, atomics.
// MUTANT: an odd number of halves is read by pairs.
// expect: out-of-bounds
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cmath>

#include "check.hpp"

__global__ void dot(const __half* a, const __half* b, int n, float* sum, __half* total) {
  const __half2* const a2 = reinterpret_cast<const __half2*>(a);
  const __half2* const b2 = reinterpret_cast<const __half2*>(b);
  __half2 partial = __float2half2_rn(0);
#ifdef MUTANT
  const int pairs = (n + 1) / 2;
#else
  const int pairs = n / 2;
#endif
  for (int i = threadIdx.x; i < pairs; i += 32) partial = __hfma2(a2[i], b2[i], partial);  //~
  __half value = __low2half(partial) + __high2half(partial);
  if (threadIdx.x == 0 && n % 2 == 1) value = __hfma(a[n - 1], b[n - 1], value);
  for (int distance = 16; distance > 0; distance /= 2) {
    value = __hadd(value, __shfl_xor_sync(~0u, value, distance));
  }
  if (threadIdx.x == 0) *sum = __half2float(value);
  atomicAdd(total, __float2half(0.5f));
}

template <typename T>
__global__ void functions(const float* in, float* out) {
  const float f = in[threadIdx.x];
  const T x = static_cast<T>(f);
  float* const mine = out + 8 * threadIdx.x;
  mine[0] = static_cast<float>(hsqrt(x));
  mine[1] = static_cast<float>(hexp(x));
  mine[2] = static_cast<float>(hlog(x));
  mine[3] = static_cast<float>(x / static_cast<T>(3.0f) - x);
  mine[4] = static_cast<float>(hfloor(x)) + static_cast<float>(hrint(x));
  mine[5] = __hgt(x, static_cast<T>(2.0f)) + 2 * __hisnan(x) + 4 * (x == x);
  mine[6] = static_cast<float>(__hmax(x, static_cast<T>(1.5f)));
  mine[7] = static_cast<float>(__habs(-x));
}

template <typename T>
bool check(float tolerance) {
  const int n = 32;
  Buffer<float> in(n), out(8 * n);
  for (int i = 0; i < n; ++i) in[i] = 0.25f + i / 8.0f;
  functions<T><<<1, n>>>(in, out);
  finish();
  bool is_right = true;
  for (int i = 0; i < n; ++i) {
    const float x = in[i], expected[] = {std::sqrt(x), std::exp(x), std::log(x), x / 3 - x};
    for (int k = 0; k < 4; ++k) {
      is_right &= std::abs(out[8 * i + k] - expected[k]) <= tolerance * (1 + std::abs(expected[k]));
    }
    is_right &= out[8 * i + 4] == std::floor(x) + std::rint(x) && out[8 * i + 5] == (x > 2) + 4;
    is_right &= out[8 * i + 6] == std::fmax(x, 1.5f) && out[8 * i + 7] == x;
  }
  return is_right;
}

int main() {
  const int n = 101;
  Buffer<__half> a(n), b(n), total(1);
  Buffer<float> sum(1);
  float expected = 0;
  for (int i = 0; i < n; ++i) {
    a[i] = __float2half(i % 4), b[i] = __float2half(i % 3 - 1);
    expected += (i % 4) * (i % 3 - 1);
  }
  total[0] = __float2half(0);
  dot<<<1, 32>>>(a, b, n, sum, total);
  finish();
  const bool is_right = sum[0] == expected && __half2float(total[0]) == 16;
  return verdict(is_right & check<__half>(2e-3f) & check<__nv_bfloat16>(2e-2f));
}
