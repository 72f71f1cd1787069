// Rows quantised in blocks of 32, as microscaling formats have them: a power of two for each block,
// and floats of 4, 6 or 8 bits, converted by the instructions of sm_100a.  The host does the same
// with the functions of the same headers.
// arch: compute_100a
// MUTANT: the scale of a block is read before all of its warp know it.
// expect: data-race
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <cmath>
#include <cstring>

#include "check.hpp"

constexpr int kBlock = 32, kFormats = 4;

__host__ __device__ float largest(int format) {
  return format == 0 ? 6.0f : format == 1 ? 7.5f : format == 2 ? 28.0f : 448.0f;
}

// A pair, there and back.
__host__ __device__ float2 rounded(float2 x, int format) {
  __half2_raw half{};
  if (format == 0) {
    half = __nv_cvt_fp4x2_to_halfraw2(__nv_cvt_float2_to_fp4x2(x, __NV_E2M1, cudaRoundNearest),
                                      __NV_E2M1);
  } else if (format == 1) {
    half = __nv_cvt_fp6x2_to_halfraw2(__nv_cvt_float2_to_fp6x2(x, __NV_E2M3, cudaRoundNearest),
                                      __NV_E2M3);
  } else if (format == 2) {
    half = __nv_cvt_fp6x2_to_halfraw2(__nv_cvt_float2_to_fp6x2(x, __NV_E3M2, cudaRoundNearest),
                                      __NV_E3M2);
  } else {
    half = __nv_cvt_fp8x2_to_halfraw2(__nv_cvt_float2_to_fp8x2(x, __NV_SATFINITE, __NV_E4M3),
                                      __NV_E4M3);
  }
  return __half22float2(__half2(half));
}

__host__ __device__ float scale_for(float most, int format, bool up) {
  const auto scale = __nv_cvt_float_to_e8m0(most / largest(format), __NV_SATFINITE,
                                            up ? cudaRoundPosInf : cudaRoundZero);
  return __bfloat162float(__nv_bfloat16(__nv_cvt_e8m0_to_bf16raw(scale)));
}

__global__ void quantise(const float2* in, float2* out, int format) {
  __shared__ float scales[8];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, block = threadIdx.x * 2 / kBlock;
  const float2 x = in[i];
  float here = 0;
  asm("max.abs.f32 %0, %1, %2, %3;" : "=f"(here) : "f"(x.x), "f"(x.y), "f"(0.0f));
  for (int lanes = 8; lanes > 0; lanes /= 2) {
    here = fmaxf(here, __shfl_xor_sync(0xffffffff, here, lanes));
  }
  if (threadIdx.x * 2 % kBlock == 0) scales[block] = scale_for(here, format, true);  //~
#ifndef MUTANT
  __syncwarp();
#endif
  const float scale = scales[block];  //~
  const float2 y = rounded(make_float2(x.x / scale, x.y / scale), format);
  out[i] = make_float2(y.x * scale, y.y * scale);
}

__global__ void sums(const __half* a, const __nv_bfloat16* b, const float* c, float* out) {
  const int i = threadIdx.x;
  float sum = 0, difference = 0, product = 0;
  asm("add.rn.f32.f16 %0, %1, %2;" : "=f"(sum) : "h"(__half_as_ushort(a[i])), "f"(c[i]));
  asm("sub.rz.f32.bf16 %0, %1, %2;"
      : "=f"(difference)
      : "h"(__bfloat16_as_ushort(b[i])), "f"(c[i]));
  asm("fma.rn.sat.f32.f16 %0, %1, %1, %2;"
      : "=f"(product)
      : "h"(__half_as_ushort(a[i])), "f"(c[i]));
  out[3 * i] = sum;
  out[3 * i + 1] = difference;
  out[3 * i + 2] = product;
}

// With the random bits 0 a number is cut off, with all of them it goes up unless it fits.
__global__ void stochastic(const float2* in, unsigned* out) {
  const float2 x = in[threadIdx.x];
  unsigned down = 0, up = 0;
  asm("cvt.rs.bf16x2.f32 %0, %1, %2, %3;" : "=r"(down) : "f"(x.x), "f"(x.y), "r"(0u));
  asm("cvt.rs.bf16x2.f32 %0, %1, %2, %3;" : "=r"(up) : "f"(x.x), "f"(x.y), "r"(0xffffffffu));
  out[2 * threadIdx.x] = down;
  out[2 * threadIdx.x + 1] = up;
}

bool quantises() {
  const int n = 256;
  Buffer<float2> in(n), out(n);
  for (int i = 0; i < n; ++i) {
    in[i] = make_float2(std::ldexp((i * 37 % 101) - 50.3f, i / 32 - 4), (i * 53 % 97) - 48.7f);
  }
  bool is_right = true;
  for (int format = 0; format < kFormats; ++format) {
    quantise<<<2, 128>>>(in, out, format);
    finish();
    for (int begin = 0; begin < n; begin += kBlock / 2) {
      float most = 0;
      for (int i = begin; i < begin + kBlock / 2; ++i) {
        most = std::fmax(most, std::fmax(std::fabs(in[i].x), std::fabs(in[i].y)));
      }
      const float scale = scale_for(most, format, true);
      is_right &=
          scale / 2 == scale_for(most, format, false) || scale == scale_for(most, format, false);
      for (int i = begin; i < begin + kBlock / 2; ++i) {
        const float2 y = rounded(make_float2(in[i].x / scale, in[i].y / scale), format);
        is_right &= out[i].x == y.x * scale && out[i].y == y.y * scale;
      }
    }
  }
  return is_right;
}

bool mixes() {
  const int n = 64;
  Buffer<__half> a(n);
  Buffer<__nv_bfloat16> b(n);
  Buffer<float> c(n), out(3 * n);
  for (int i = 0; i < n; ++i) {
    a[i] = __float2half(std::ldexp(i - 31.5f, -i % 7));
    b[i] = __float2bfloat16(i * 0.3f);
    c[i] = 0.1f * i;
  }
  sums<<<1, n>>>(a, b, c, out);
  finish();
  bool is_right = true;
  for (int i = 0; i < n; ++i) {
    const float x = __half2float(a[i]);
    const double exact = static_cast<double>(__bfloat162float(b[i])) - c[i];
    is_right &= out[3 * i] == x + c[i];
    is_right &=
        std::fabs(out[3 * i + 1]) <= std::fabs(exact) &&
        std::fabs(std::nextafter(out[3 * i + 1], exact < 0 ? -1e9f : 1e9f)) > std::fabs(exact);
    is_right &= out[3 * i + 2] == std::fmin(std::fmax(std::fma(x, x, c[i]), 0.0f), 1.0f);
  }
  return is_right;
}

bool rounds_at_random() {
  const int n = 32;
  Buffer<float2> in(n);
  Buffer<unsigned> out(2 * n);
  for (int i = 0; i < n; ++i) in[i] = make_float2(1.0f + i / 1024.0f, -3.0f - i / 64.0f);
  stochastic<<<1, n>>>(in, out);
  finish();
  bool is_right = true;
  for (int i = 0; i < n; ++i) {
    const auto bits = [](float x) {
      unsigned word = 0;
      std::memcpy(&word, &x, sizeof word);
      return word;
    };
    const auto cut = [](unsigned x) { return x >> 16; };
    const auto raised = [](unsigned x) { return (x + 0xffff) >> 16; };
    is_right &= out[2 * i] == (cut(bits(in[i].x)) << 16 | cut(bits(in[i].y)));
    is_right &= out[2 * i + 1] == (raised(bits(in[i].x)) << 16 | raised(bits(in[i].y)));
  }
  return is_right;
}

int main() { return verdict(quantises() && mixes() && rounds_at_random()); }
