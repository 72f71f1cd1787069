// Conversions of halves and bfloats are instructions from sm_90 on.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "kernels/specimens/planted/wrong_formats.hpp"

namespace {

constexpr int kThreads = 32;
constexpr float kNever = -1e30f;  // no datum is less

__device__ __nv_bfloat16 as_bfloat(__half x) { return __ushort_as_bfloat16(__half_as_ushort(x)); }
__device__ __half as_half(__nv_bfloat16 x) { return __ushort_as_half(__bfloat16_as_ushort(x)); }
__device__ unsigned pair_of(__half low, __half high) {
  return __half_as_ushort(low) | static_cast<unsigned>(__half_as_ushort(high)) << 16;
}
__device__ float of_bits(int bits) { return __int_as_float(bits); }
__device__ int bits_of(float x) { return __float_as_int(x); }

__device__ float right_float(int way, float x, float nan, unsigned short* shared) {
  switch (way) {
    case 0: return x;
    case 1: return __half2float(__float2half(x));
    case 2: return __bfloat162float(__float2bfloat16(x));
    case 3:
      shared[threadIdx.x] = __half_as_ushort(__float2half(x));
      __syncwarp();
      return __half2float(__ushort_as_half(shared[threadIdx.x]));
    case 4: return __high2float(__halves2half2(__float2half(0.0f), __float2half(x)));
    case 5: return fmaxf(x, nan);
    case 6: return fminf(nan, x);
    case 7: return static_cast<float>(static_cast<double>(x));
    case 8: return __half2float(__hneg(__hneg(__float2half(x))));
    case 9: return of_bits(bits_of(of_bits(bits_of(x) ^ 0x80000000)) ^ 0x80000000);
    case 10: return __shfl_xor_sync(__activemask(), __shfl_xor_sync(__activemask(), x, 0), 0);
    case 11: return __bfloat162float(__hadd(__float2bfloat16(x), __float2bfloat16(0.0f)));
    default: return of_bits(__byte_perm(__byte_perm(bits_of(x), 0, 0x0123), bits_of(nan), 0x0123));
  }
}

__device__ float wrong_float(int way, float x, float y, float nan, unsigned short* shared) {
  const __half h = __float2half(x), g = __float2half(y);
  const __nv_bfloat16 b = __float2bfloat16(x);
  switch (way) {
    case 100: return __bfloat162float(as_bfloat(h));
    case 101: return __half2float(as_half(b));
    case 102:
      shared[threadIdx.x] = __half_as_ushort(h);
      __syncwarp();
      return __bfloat162float(__ushort_as_bfloat16(shared[threadIdx.x]));
    case 103: return of_bits(static_cast<int>(pair_of(__float2half(0.0f), h)));
    case 104: return __bfloat162float(__hadd(as_bfloat(h), __float2bfloat16(0.0f)));
    case 105: return __half2float(__hmax(as_half(b), __float2half(-60000.0f)));
    case 106: return __high2float(__halves2half2(h, g));
    case 107: return __half2float(__short2half_rn(__half_as_short(h)));
    case 108: return __half2float(__ushort_as_half(static_cast<unsigned short>(bits_of(x))));
    case 109: return of_bits(__double2hiint(static_cast<double>(x)));
    case 110: {
      const double wide = x;
      return static_cast<float>(__hiloint2double(__double2loint(wide), __double2hiint(wide)));
    }
    case 111: return __half2float(x > kNever ? h : as_half(b));
    case 112: return __bfloat162float(x > kNever ? b : as_bfloat(h));
    case 113: return __half2float(as_half(x < y ? b : __float2bfloat16(y)));
    // Zeros of either sign, and NaNs, are equal floats of other bits.
    case 114: return x + of_bits(bits_of(x > kNever ? 0.0f : -0.0f) >> 8 & 0x3f800000);
    case 115: {
      const float either = x > kNever ? of_bits(0x7fc00000) : of_bits(0x7fc00001);
      return x + static_cast<float>(bits_of(either) & 1);
    }
    case 116: return bits_of(x > kNever ? 0.0f : -0.0f) < 0 ? x + 1 : x;
    // No number is greater or less than a NaN.
    case 117: return x > nan ? x : nan;
    case 118: return x < nan ? x : nan;
    case 119: return !(x <= nan) ? nan : x;
    case 120: return !(x > nan) ? nan : x;
    case 121: return nan > x ? nan : (nan < x ? x : nan);
    case 122: return fmaxf(x, y);
    case 123: return fminf(fmaxf(x, y), y);
    case 124: return fmaxf(x, -3e38f);
    case 125: return of_bits(max(bits_of(x), bits_of(0.0f)));
    case 126: return of_bits(bits_of(x) + 1);
    case 127: return of_bits(bits_of(x) & ~1);
    case 128: return of_bits(bits_of(x) & 0x7fffffff);
    case 129: return of_bits(bits_of(x) + 0x800000) * 0.25f;
    case 130: return copysignf(x, y);
    case 131: return static_cast<float>(static_cast<int>(x));
    case 132: return x - static_cast<float>(bits_of(x) >> 31);
    case 133: return __saturatef(x);
    case 134: return rintf(x);
    case 135: return of_bits(__byte_perm(bits_of(x), 0, 0x1032));
    case 136: return __half2float(__hfma_relu(h, __float2half(1.0f), __float2half(0.0f)));
    case 137: return __half2float(__hadd_sat(h, __float2half(0.0f)));
    case 138: return __low2float(__lowhigh2highlow(__halves2half2(h, g)));
    case 139: return x + 0x1p-149f;
    // Bytes of other values.
    case 140: return of_bits(__byte_perm(bits_of(x), bits_of(y), 0x3214));
    case 141: return of_bits(__byte_perm(bits_of(x), 0, 0x3201));
    case 142:
      return __half2float(__ushort_as_half(static_cast<unsigned short>(
          __byte_perm(__half_as_ushort(h), __bfloat16_as_ushort(b), 0x0050))));
    case 143: return of_bits(bits_of(x) & 0xffffff00);
    default: return x * (1 + 0x1p-23f);
  }
}

__device__ int right_int(int way, int x, int zero) {
  switch (way) {
    case 0: return x;
    case 1: return x * 5 - (x << 2);
    case 2: return ~~x;
    case 3: return min(max(x, static_cast<int>(0x80000000)), 0x7fffffff);
    case 4: return __byte_perm(__byte_perm(x, 0, 0x1032), 0, 0x1032);
    case 5: return -(-x + zero);
    default: return x + (zero << 31);
  }
}

__device__ int wrong_int(int way, int x, int y, int zero) {
  const auto u = static_cast<unsigned>(x);
  switch (way) {
    case 100: return static_cast<short>(x);
    case 101: return static_cast<unsigned short>(x);
    case 102: return min(x, 0x7ffffffe);
    case 103: return max(x, static_cast<int>(0x80000001));
    case 104: return static_cast<int>(min(u, 0x7fffffffu));
    case 105: return static_cast<int>(max(u, 0x80000000u));
    case 106: return abs(x);
    case 107: return x ^ x >> 31;
    case 108: return static_cast<int>(__byte_perm(x, 0, 0x3201));
    case 109: {  // the third byte has the sign of the last one
      unsigned permuted = 0;
      asm("prmt.b32 %0, %1, 0, 0x3b10;" : "=r"(permuted) : "r"(u));
      return static_cast<int>(permuted);
    }
    case 110: return static_cast<int>(__vadd2(u, 0x8000u));
    case 111: return static_cast<int>(__vaddss2(u, 0));
    case 112: return __mul24(x, 1);
    case 113: return __mulhi(x, 2);
    case 114: return static_cast<int>(u * 3 / 3);
    case 115: return static_cast<int>(static_cast<float>(x));
    case 116: return __funnelshift_l(x, y, 31);
    case 117: return __funnelshift_r(y, x, 16);
    case 118: return x << 16 >> 16;
    case 119: return static_cast<int>(u << 1 >> 1);
    case 120: return x + (x << 31);
    case 121: return x + (zero - 1 << 16);
    case 122: return __dp4a(x, 1, 0);
    case 123: return x > -2000000000 ? x : x + 1;
    case 124: return x > y ? x : y;
    case 125: return x + (x > -2000000000 ? zero : 1);
    case 126: return x + (static_cast<float>(x) > -2e9f ? 0 : 1);
    case 127: return __reduce_max_sync(1u << threadIdx.x % 32, u) ^ 0x80000000;
    case 128: return x * x * x;
    default: return x + (x * (x + 1) << 30);
  }
}

__device__ long long wrong_long(int way, long long v, int zero) {
  const auto low = static_cast<int>(v);
  switch (way) {
    case 0: return v;
    case 1: return static_cast<long long>(static_cast<unsigned long long>(v) + zero);
    case 100: return low;
    case 101: return static_cast<unsigned>(low);
    // A selection of 64 bits by a comparison of 32.
    case 102: return v + (low > -2000000000 ? 0LL : 1LL << 32);
    case 103: return v ^ (low > -2000000000 ? 0LL : 1LL << 63);
    case 104: return static_cast<long long>(static_cast<unsigned long long>(v) << 32 | v >> 32);
    case 105: return v + (static_cast<long long>(low) << 32);
    case 106: return __mul64hi(v, 2);
    case 107: return min(v, 0x7fffffffLL);
    case 108: return max(v, -0x80000000LL);
    case 109: return static_cast<long long>(static_cast<double>(v));
    default: return v + (v << 63);
  }
}

__global__ void floats_kernel(const float* in, float* out, int n, float nan, int way) {
  __shared__ unsigned short shared[kThreads];
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  const float x = in[i], y = in[(i + 1) % n];
  out[i] =
      way < kWrongWays ? right_float(way, x, nan, shared) : wrong_float(way, x, y, nan, shared);
}

__global__ void ints_kernel(const int* in, int* out, int n, int zero, int way) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  out[i] =
      way < kWrongWays ? right_int(way, in[i], zero) : wrong_int(way, in[i], in[(i + 1) % n], zero);
}

__global__ void longs_kernel(const long long* in, long long* out, int n, int zero, int way) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < n) out[i] = wrong_long(way, in[i], zero);
}

}  // namespace

cudaError_t wrong_floats(const float* in, float* out, int n, float nan, int way) {
  floats_kernel<<<1, kThreads>>>(in, out, n, nan, way);
  return cudaGetLastError();
}

cudaError_t wrong_ints(const int* in, int* out, int n, int zero, int way) {
  ints_kernel<<<1, kThreads>>>(in, out, n, zero, way);
  return cudaGetLastError();
}

cudaError_t wrong_longs(const long long* in, long long* out, int n, int zero, int way) {
  longs_kernel<<<1, kThreads>>>(in, out, n, zero, way);
  return cudaGetLastError();
}
