// Numbers of 16 bits, which overflow at 65,520 or have few digits.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::copy_out;
using warpcheck::litmus::zeroed;

namespace {

constexpr int kHalves = 32;

template <typename T>
T* halves_of(float value, int count = kHalves) {
  const std::vector<T> host(count, T(value));
  T* const device = zeroed<T>(count);
  cudaMemcpy(device, host.data(), sizeof(T) * count, cudaMemcpyHostToDevice);
  return device;
}

template <typename In, typename Out>
void run_halves(void (*kernel)(const In*, Out*), float value) {
  Out* const out = zeroed<Out>(kHalves);
  kernel<<<1, kHalves>>>(halves_of<In>(value), out);
  copy_out(out, kHalves);
}

}  // namespace

// expect: infinity global
__global__ void converts_to_half(const float* in, __half* out) {
  out[threadIdx.x] = __float2half(in[threadIdx.x]);  //~ compute //~ write
}
LITMUS(converts_to_half) { run_halves(converts_to_half, 70000); }

// expect: clean
LITMUS(converts_what_fits) { run_halves(converts_to_half, 65504); }

// expect: underflow note
__global__ void converts_to_zero(const float* in, __half* out) {
  out[threadIdx.x] = __float2half(in[threadIdx.x]);  //~ compute
}
LITMUS(converts_to_zero) { run_halves(converts_to_zero, 1e-9f); }

// expect: infinity global
__global__ void sums_halves(const __half* in, __half* out) {
  __half sum = in[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) {
    sum = __hadd(sum, __shfl_xor_sync(0xffffffffu, sum, d));  //~ compute
  }
  out[threadIdx.x] = sum;  //~ write
}
LITMUS(sums_halves) { run_halves(sums_halves, 5000); }

// expect: clean
__global__ void sums_halves_as_floats(const __half* in, float* out) {
  float sum = __half2float(in[threadIdx.x]);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  out[threadIdx.x] = sum;
}
LITMUS(sums_halves_as_floats) { run_halves(sums_halves_as_floats, 5000); }

// The other half of the pair is an infinity that the host means.
// expect: infinity global
__global__ void squares_pairs(const __half2* in, __half2* out) {
  const __half2 pair = __halves2half2(__float2half(-INFINITY), __high2half(in[threadIdx.x]));
  out[threadIdx.x] = __hmul2(pair, in[threadIdx.x]);  //~ compute //~ write
}
LITMUS(squares_pairs) {
  __half2* const out = zeroed<__half2>(kHalves);
  __half* const in = halves_of<__half>(300, 2 * kHalves);
  squares_pairs<<<1, kHalves>>>(reinterpret_cast<__half2*>(in), out);
  copy_out(out, kHalves);
}

// expect: clean
LITMUS(squares_small_pairs) {
  __half2* const out = zeroed<__half2>(kHalves);
  squares_pairs<<<1, kHalves>>>(reinterpret_cast<__half2*>(halves_of<__half>(3, 2 * kHalves)), out);
  copy_out(out, kHalves);
}

// expect: infinity global
__global__ void scales_bfloats(const __nv_bfloat16* in, __nv_bfloat16* out) {
  out[threadIdx.x] = __hmul(in[threadIdx.x], in[threadIdx.x]);  //~ compute //~ write
}
LITMUS(scales_bfloats) { run_halves(scales_bfloats, 1e30f); }

// expect: clean
LITMUS(scales_small_bfloats) { run_halves(scales_bfloats, 1e10f); }

// expect: infinity global
template <typename Sum>
__global__ void multiplies(const __half* a, const __half* b, Sum* out) {
  using namespace nvcuda::wmma;
  fragment<matrix_a, 16, 16, 16, __half, row_major> left;
  fragment<matrix_b, 16, 16, 16, __half, col_major> right;
  fragment<accumulator, 16, 16, 16, Sum> sum;
  load_matrix_sync(left, a, 16);
  load_matrix_sync(right, b, 16);
  fill_fragment(sum, Sum(0.0f));
  mma_sync(sum, left, right, sum);                  //~ compute
  store_matrix_sync(out, sum, 16, mem_row_major);   //~ write
}
LITMUS(multiplies_into_halves) {
  __half* const out = zeroed<__half>(256);
  multiplies<<<1, kHalves>>>(halves_of<__half>(100, 256), halves_of<__half>(100, 256), out);
  copy_out(out, 256);
}

// expect: clean
LITMUS(multiplies_into_floats) {
  float* const out = zeroed<float>(256);
  multiplies<<<1, kHalves>>>(halves_of<__half>(100, 256), halves_of<__half>(100, 256), out);
  copy_out(out, 256);
}

// expect: infinity global
__global__ void counts_to_halves(const int* in, __half* out) {
  out[threadIdx.x] = __int2half_rn(in[threadIdx.x]);  //~ compute //~ write
}
LITMUS(counts_to_halves) { run_halves(counts_to_halves, 70000); }

// expect: clean
LITMUS(small_counts_to_halves) { run_halves(counts_to_halves, -65504); }
