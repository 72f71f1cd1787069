// Floats of 8, 6 and 4 bits: conversions there and back, saturation, vectors.
#include <cuda_fp4.h>
#include <cuda_fp6.h>
#include <cuda_fp8.h>
#include <algorithm>
#include <cmath>

#include "check.hpp"

__global__ void round_trip(const float* in, float* out) {
  const float x = in[threadIdx.x];
  float* const mine = out + 6 * threadIdx.x;
  mine[0] = static_cast<float>(__nv_fp8_e4m3(x));
  mine[1] = static_cast<float>(__nv_fp8_e5m2(x));
  mine[2] = static_cast<float>(__nv_fp6_e2m3(x));
  mine[3] = static_cast<float>(__nv_fp4_e2m1(x));
  const float4 vector = static_cast<float4>(__nv_fp8x4_e4m3(make_float4(x, -x, 2 * x, 1)));
  mine[4] = vector.z;
  mine[5] = __half2float(static_cast<__half>(__nv_fp8_e5m2(-x)));
}

// To so many bits behind the point of the binary representation, ties to even.
float rounded(float x, int bits, int exponent_min, float most) {
  if (x == 0) return x;
  const int exponent = std::max(std::ilogb(x), exponent_min);
  const float unit = std::ldexp(1.0f, exponent - bits);
  return std::copysign(std::min(std::nearbyint(std::abs(x) / unit) * unit, most), x);
}

int main() {
  const int n = 32;
  Buffer<float> in(n), out(6 * n);
  for (int i = 0; i < n; ++i) in[i] = std::ldexp(i % 5 + 1.3f, i % 11 - 6) * (i % 2 ? 1 : -1);
  round_trip<<<1, n>>>(in, out);
  finish();
  bool is_right = true;
  for (int i = 0; i < n; ++i) {
    const float x = in[i], *const mine = out + 6 * i;
    is_right &= mine[0] == rounded(x, 3, -6, 448) && mine[1] == rounded(x, 2, -14, 57344);
    is_right &= mine[2] == rounded(x, 3, 0, 7.5f) && mine[3] == rounded(x, 1, 0, 6);
    is_right &= mine[4] == rounded(2 * x, 3, -6, 448) && mine[5] == rounded(-x, 2, -14, 57344);
  }
  return verdict(is_right);
}
