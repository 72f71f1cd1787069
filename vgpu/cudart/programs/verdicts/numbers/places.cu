// Integers that go below zero, wrap or do not fit where they are kept, and numbers that functions
// of the toolkit make, each with a twin that means it.
//
// build: -arch=compute_80 -std=c++17
// also unoptimized: -G
//
// case wrong: | --check numerics | wrong
// expect wrong: error wrapped-integer ring_below_zero
// expect wrong: error wrapped-integer triangle
// expect wrong: error lossy-conversion colour
// expect wrong: note infinity length_of_halves
// expect wrong: error infinity exponential
// expect wrong: error not-a-number angle
// expect wrong: error not-a-number byte_of_nan
// expect wrong: error not-a-number wide_byte_of_nan
// says wrong: expf(90) does not fit in f32
// says wrong: acosf() or asinf() of 1.0000001
// says wrong: 0 - 5 is -5, which is 4,294,967,291 as an unsigned integer
//
// case right: | --check numerics | right
// expect right: clean
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr int kCount = 48;

using Kernel = void (*)(const float*, float*, int);

void run(Kernel kernel, float first, float step, int number) {
  std::vector<float> host(kCount);
  for (int i = 0; i < kCount; ++i) host[i] = first + step * static_cast<float>(i);
  float *in, *out;
  cudaMalloc(&in, sizeof(float) * kCount);
  cudaMalloc(&out, sizeof(float) * kCount);
  cudaMemset(out, 0, sizeof(float) * kCount);
  cudaMemcpy(in, host.data(), sizeof(float) * kCount, cudaMemcpyHostToDevice);
  kernel<<<1, 32>>>(in, out, number);
  cudaMemcpy(host.data(), out, sizeof(float) * kCount, cudaMemcpyDeviceToHost);
  cudaFree(in);
  cudaFree(out);
}

// 2^32 is no multiple of 48, so that what is below 0 becomes another place of the ring.
__global__ void ring_below_zero(const float* in, float* out, int shift) {
  const auto size = static_cast<unsigned>(shift) + 43;
  const unsigned from = (threadIdx.x - static_cast<unsigned>(shift)) % size;  //~ ring_below_zero
  out[threadIdx.x] = in[from];  //~ ring_below_zero
}
__global__ void ring_below_zero_meant(const float* in, float* out, int shift) {
  const auto size = static_cast<unsigned>(shift) * 9;  // 45
  const unsigned from = (threadIdx.x + size - static_cast<unsigned>(shift)) % size;
  const unsigned bits = (threadIdx.x - static_cast<unsigned>(shift)) % (size - 13);  // of 32
  out[threadIdx.x] = in[from] + in[bits];
}

__global__ void triangle(const float* in, float* out, int rows) {
  const int k = rows + static_cast<int>(threadIdx.x);
  const int at = k * (k + 1) / 2;  //~ triangle
  if (at > 0) out[threadIdx.x] = in[threadIdx.x];  //~ triangle
}
__global__ void triangle_meant(const float* in, float* out, int rows) {
  const int k = rows + static_cast<int>(threadIdx.x);
  const long long at = static_cast<long long>(k) * (k + 1) / 2;
  if (at > 0) out[threadIdx.x] = in[threadIdx.x];
}

__global__ void colour(const float* in, float* out, int gain) {
  const auto c = static_cast<unsigned char>(in[threadIdx.x] * gain);  //~ colour
  reinterpret_cast<uchar4*>(out)[threadIdx.x] = make_uchar4(c, c, c, 255);  //~ colour
}
__global__ void colour_meant(const float* in, float* out, int gain) {
  const auto c = static_cast<unsigned char>(fminf(in[threadIdx.x] * gain, 255));
  reinterpret_cast<uchar4*>(out)[threadIdx.x] = make_uchar4(c, c, c, 255);
}

__global__ void length_of_halves(const float* in, float* out, int) {
  __half sum = __float2half(0);
  const __half x = __float2half(in[threadIdx.x]);
  for (int i = 0; i < 64; ++i) sum = __hfma(x, x, sum);  //~ length_of_halves
  out[threadIdx.x] = in[threadIdx.x] / sqrtf(__half2float(sum) / 64);  //~ length_of_halves
}
__global__ void length_of_halves_meant(const float* in, float* out, int) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = x / sqrtf(x * x);
}

__global__ void exponential(const float* in, float* out, int) {
  out[threadIdx.x] = expf(in[threadIdx.x]);  //~ exponential
}
__global__ void angle(const float* in, float* out, int) {
  out[threadIdx.x] = acosf(in[threadIdx.x]);  //~ angle
}

// Before sm_89, code with integers converts to floats of 8 bits.
__global__ void byte_of_nan(const float* in, float* out, int zero) {
  const float x = in[threadIdx.x] - in[0];
  reinterpret_cast<__nv_fp8_e4m3*>(out)[threadIdx.x] = __nv_fp8_e4m3(x / zero);  //~ byte_of_nan
}
__global__ void byte_of_nan_meant(const float* in, float* out, int zero) {
  const float x = in[threadIdx.x] - in[0];
  reinterpret_cast<__nv_fp8_e4m3*>(out)[threadIdx.x] = __nv_fp8_e4m3(zero == 0 ? x : x / zero);
}
__global__ void wide_byte_of_nan(const float* in, float* out, int zero) {
  const float x = in[threadIdx.x] - in[0];
  reinterpret_cast<__nv_fp8_e5m2*>(out)[threadIdx.x] = __nv_fp8_e5m2(x / zero);  //~ wide_byte_of_nan
}

// The program looks for overflows, and does not use what has overflowed.
__device__ __half scaled[kCount];
__device__ int has_overflowed;
__global__ void scale(const float* in, float*, int factor) {
  scaled[threadIdx.x] = __float2half(in[threadIdx.x] * factor);
}
__global__ void look_for_overflows(const float*, float*, int) {
  if (__hisinf(scaled[threadIdx.x])) atomicOr(&has_overflowed, 1);
}
__global__ void step_meant(const float*, float* out, int) {
  if (has_overflowed == 0) out[threadIdx.x] = __half2float(scaled[threadIdx.x]);
}

}  // namespace

int main(int, char** arguments) {
  if (arguments[1] == std::string("wrong")) {
    run(ring_below_zero, 1, 1, 5);
    run(triangle, 1, 1, 50'000);
    run(colour, 1, 9, 1);
    run(length_of_halves, 40, 0, 0);
    run(exponential, 90, 0, 0);
    run(angle, 1.0000001f, 0, 0);
    run(byte_of_nan, 3, 0, 0);
    run(wide_byte_of_nan, 3, 0, 0);
  } else {
    run(ring_below_zero_meant, 1, 1, 5);
    run(triangle_meant, 1, 1, 50'000);
    run(colour_meant, 1, 9, 1);
    run(length_of_halves_meant, 40, 0, 0);
    run(exponential, 80, 0, 0);
    run(angle, 1, 0, 0);
    run(byte_of_nan_meant, 3, 0, 0);
    run(scale, 1, 1, 60'000);
    run(look_for_overflows, 1, 1, 0);
    run(step_meant, 1, 1, 0);
  }
  std::printf("ran\n");
  return 0;
}
