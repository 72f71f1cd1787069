// The way of a value: through the toolkit's functions, local memory, copies and narrower types.
#include <cmath>

#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::copy_out;
using warpcheck::litmus::zeroed;

namespace {

constexpr int kThreads = 32;

template <typename T>
T* counted_from(T first) {
  std::vector<T> host(kThreads);
  for (int i = 0; i < kThreads; ++i) host[i] = first + static_cast<T>(i);
  T* const device = zeroed<T>(kThreads);
  cudaMemcpy(device, host.data(), sizeof(T) * kThreads, cudaMemcpyHostToDevice);
  return device;
}

template <typename In, typename Out>
void run_way(void (*kernel)(const In*, Out*), In first) {
  Out* const out = zeroed<Out>(kThreads);
  kernel<<<1, kThreads>>>(counted_from(first), out);
  copy_out(out, kThreads);
}

}  // namespace

// expect: infinity global
__global__ void cross_entropy(const float* in, float* out) {
  out[threadIdx.x] = -logf(in[threadIdx.x]);  //~ compute //~ write
}
LITMUS(cross_entropy) { run_way(cross_entropy, 0.0f); }

// expect: clean
__global__ void cross_entropy_with_epsilon(const float* in, float* out) {
  out[threadIdx.x] = -logf(in[threadIdx.x] + 1e-9f);
}
LITMUS(cross_entropy_with_epsilon) { run_way(cross_entropy_with_epsilon, 0.0f); }

// expect: not-a-number global
__global__ void toolkit_logarithm(const float* in, float* out) {
  out[threadIdx.x] = logf(in[threadIdx.x]);  //~ compute //~ write
}
LITMUS(toolkit_logarithm) { run_way(toolkit_logarithm, -3.5f); }

// A vector of zeros has no direction.
// expect: not-a-number global
__global__ void normalises(const float* in, float* out) {
  const float x = in[threadIdx.x] * 0;
  float squares = x * x;
  for (int d = 16; d > 0; d /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, d);
  out[threadIdx.x] = x / sqrtf(squares);  //~ compute //~ write
}
LITMUS(normalises) { run_way(normalises, 1.0f); }

// expect: clean
__global__ void normalises_with_bound(const float* in, float* out) {
  const float x = in[threadIdx.x] * 0;
  float squares = x * x;
  for (int d = 16; d > 0; d /= 2) squares += __shfl_xor_sync(0xffffffffu, squares, d);
  out[threadIdx.x] = x / fmaxf(sqrtf(squares), 1e-12f);
}
LITMUS(normalises_with_bound) { run_way(normalises_with_bound, 1.0f); }

// Through an array in local memory.
// expect: not-a-number global
__global__ void through_local(const float* in, float* out) {
  float own[8];
  for (int i = 0; i < 8; ++i) own[i] = in[(threadIdx.x + i) % kThreads];
  const int at = static_cast<int>(in[0]) + static_cast<int>(threadIdx.x % 8);
  own[at] = own[at] / own[at];           //~ compute
  out[threadIdx.x] = own[(at + 8) % 8];  //~ write
}
LITMUS(through_local) { run_way(through_local, 0.0f); }

// expect: clean
__global__ void through_local_and_dropped(const float* in, float* out) {
  float own[8];
  for (int i = 0; i < 8; ++i) own[i] = in[(threadIdx.x + i) % kThreads];
  const int at = static_cast<int>(in[0]) + static_cast<int>(threadIdx.x % 8);
  own[at] = own[at] / own[at];
  own[at] = 1;
  out[threadIdx.x] = own[(at + 8) % 8];
}
LITMUS(through_local_and_dropped) { run_way(through_local_and_dropped, 0.0f); }

// expect: not-a-number global
__global__ void copied(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x] / in[threadIdx.x];  //~ compute //~ write
}
LITMUS(copied_on_the_device) {
  float* const first = zeroed<float>(kThreads);
  float* const second = zeroed<float>(kThreads);
  copied<<<1, kThreads>>>(counted_from(0.0f), first);
  cudaMemcpy(second, first, sizeof(float) * kThreads, cudaMemcpyDeviceToDevice);
  copy_out(second, kThreads);
}

// expect: clean
LITMUS(cleared_on_the_device) {
  float* const first = zeroed<float>(kThreads);
  copied<<<1, kThreads>>>(counted_from(0.0f), first);
  cudaMemset(first, 0, sizeof(float) * kThreads);
  copy_out(first, kThreads);
}

// expect: lossy-conversion global
__global__ void negative_as_unsigned(const float* in, unsigned* out) {
  out[threadIdx.x] = static_cast<unsigned>(in[threadIdx.x]);  //~ compute //~ write
}
LITMUS(negative_as_unsigned) { run_way(negative_as_unsigned, -3.0f); }

// expect: clean
LITMUS(positive_as_unsigned) { run_way(negative_as_unsigned, 3.0f); }

// expect: lossy-conversion global
__global__ void double_as_integer(const double* in, int* out) {
  out[threadIdx.x] = static_cast<int>(in[threadIdx.x]);  //~ compute //~ write
}
LITMUS(double_as_integer) { run_way(double_as_integer, 3e9); }

// expect: clean
LITMUS(double_as_integer_that_fits) { run_way(double_as_integer, 3e8); }

// expect: not-a-number global
__global__ void becomes_an_integer(const float* in, int* out) {
  out[threadIdx.x] = static_cast<int>(in[threadIdx.x] / in[threadIdx.x]);  //~ compute //~ write
}
LITMUS(becomes_an_integer) { run_way(becomes_an_integer, 0.0f); }

// expect: infinity global
__global__ void product_overflows(const float* in, float* out) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = __fmul_rn(x * 1e30f, 1e20f);  //~ compute //~ write
}
LITMUS(product_overflows) { run_way(product_overflows, 1.0f); }

// expect: clean
LITMUS(product_of_zero) {
  float* const out = zeroed<float>(kThreads);
  product_overflows<<<1, 1>>>(counted_from(0.0f), out);
  copy_out(out, kThreads);
}

// A sum of products of doubles.
// expect: infinity global
__global__ void doubles_overflow(const double* in, double* out) {
  out[threadIdx.x] = exp2(in[threadIdx.x]) * 1e300;  //~ compute //~ write
}
LITMUS(doubles_overflow) { run_way(doubles_overflow, 30.0); }

// expect: clean
LITMUS(doubles_fit) { run_way(doubles_overflow, -9.0); }

// A vector in local memory, of which one element is a NaN.
// expect: not-a-number global
template <int kAt>
__global__ void through_local_vectors(const float* in, float* out) {
  const float x = in[threadIdx.x];
  const float quotient = x / x;  //~ compute
  float4 own[2] = {make_float4(1, 2, quotient, 3), make_float4(4, 5, 6, x)};
  const int at = static_cast<int>(in[0]) + kAt;
  out[threadIdx.x] = reinterpret_cast<const float*>(own)[at];  //~ write
}
LITMUS(through_third_of_vector) { run_way(through_local_vectors<2>, 0.0f); }

// expect: clean
LITMUS(beside_third_of_vector) { run_way(through_local_vectors<1>, 0.0f); }

// Bits that are turned, and turned back.
// expect: not-a-number global
__global__ void turns(const float* in, float* out) {
  const float x = in[threadIdx.x];
  const int by = static_cast<int>(in[16]);
  const unsigned bits = __float_as_uint(x / x);  //~ compute
  const unsigned turned = __funnelshift_l(bits, bits, by);
  out[threadIdx.x] = __uint_as_float(__funnelshift_r(turned, turned, by));  //~ write
}
LITMUS(turns) { run_way(turns, 0.0f); }

// expect: clean
LITMUS(turns_a_number) { run_way(turns, 1.0f); }

// What an atomic operation returns.
// expect: not-a-number global
__global__ void exchanges(const float* in, float* out) {
  atomicExch(out + threadIdx.x, in[threadIdx.x] / in[threadIdx.x]);  //~ compute
  const float old = atomicExch(out + threadIdx.x, 0.0f);
  out[threadIdx.x] = old + 1;  //~ write
}
LITMUS(exchanges) { run_way(exchanges, 0.0f); }

// expect: clean
LITMUS(exchanges_numbers) { run_way(exchanges, 1.0f); }

// Infinities that the toolkit's functions give beyond a bound.
// expect: infinity global
__global__ void powers(const float* in, float* out) {
  out[threadIdx.x] = powf(in[threadIdx.x], in[0]);  //~ compute //~ write
}
LITMUS(powers) { run_way(powers, 30.0f); }

// expect: clean
LITMUS(small_powers) { run_way(powers, 2.0f); }

// expect: infinity global
__global__ void growth(const float* in, float* out) {
  out[threadIdx.x] = expm1f(in[threadIdx.x]);  //~ compute //~ write
}
LITMUS(growth) { run_way(growth, 100.0f); }

// expect: clean
LITMUS(small_growth) { run_way(growth, 1.0f); }

// expect: infinity global
__global__ void inverses(const double* in, double* out) {
  out[threadIdx.x] = pow(in[threadIdx.x], -1.0);  //~ compute //~ write
}
LITMUS(inverses) { run_way(inverses, 0.0); }

// expect: clean
LITMUS(inverses_of_some) { run_way(inverses, 1.0); }
