// NaNs and infinities: made of finite operands, and meant.
#include <cmath>

#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::copy_out;
using warpcheck::litmus::zeroed;

namespace {

constexpr int kCount = 32;

// Device memory with this value in each place.
float* filled(float value) {
  std::vector<float> host(kCount, value);
  float* const device = zeroed<float>(kCount);
  cudaMemcpy(device, host.data(), sizeof(float) * kCount, cudaMemcpyHostToDevice);
  return device;
}

float* in_order() {
  std::vector<float> host(kCount);
  for (int i = 0; i < kCount; ++i) host[i] = static_cast<float>(i);
  float* const device = zeroed<float>(kCount);
  cudaMemcpy(device, host.data(), sizeof(float) * kCount, cudaMemcpyHostToDevice);
  return device;
}

template <typename Kernel>
void run(Kernel kernel, float* in) {
  float* const out = zeroed<float>(kCount);
  kernel<<<1, kCount>>>(in, out);
  copy_out(out, kCount);
}

}  // namespace

// expect: not-a-number global
__global__ void divides_zero_by_zero(const float* in, float* out) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = x / x;  //~ compute //~ write
}
LITMUS(divides_zero_by_zero) { run(divides_zero_by_zero, in_order()); }

// expect: clean
__global__ void divides_by_the_sum(const float* in, float* out) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = x / (x + 1);
}
LITMUS(divides_by_the_sum) { run(divides_by_the_sum, in_order()); }

// expect: infinity global
__global__ void divides_by_zero(const float* in, float* out) {
  out[threadIdx.x] = 1.0f / in[threadIdx.x];  //~ compute //~ write
}
LITMUS(divides_by_zero) { run(divides_by_zero, in_order()); }

// A program may divide first and select afterwards.
// expect: clean
__global__ void divides_where_it_may(const float* in, float* out) {
  const float x = in[threadIdx.x];
  const float inverse = 1.0f / x;
  out[threadIdx.x] = x == 0 ? 0 : inverse;
}
LITMUS(divides_where_it_may) { run(divides_where_it_may, in_order()); }

// expect: not-a-number global
__global__ void root_of_negative(const float* in, float* out) {
  const float root = sqrtf(in[threadIdx.x] - 1);  //~ compute
  out[threadIdx.x] = root;                        //~ write
}
LITMUS(root_of_negative) { run(root_of_negative, in_order()); }

// expect: clean
__global__ void root_of_absolute(const float* in, float* out) {
  out[threadIdx.x] = sqrtf(fabsf(in[threadIdx.x] - 1));
}
LITMUS(root_of_absolute) { run(root_of_absolute, in_order()); }

// expect: infinity global
__global__ void inverse_root_of_zero(const float* in, float* out) {
  out[threadIdx.x] = rsqrtf(in[threadIdx.x]);  //~ compute //~ write
}
LITMUS(inverse_root_of_zero) { run(inverse_root_of_zero, in_order()); }

// expect: clean
__global__ void inverse_root_with_epsilon(const float* in, float* out) {
  out[threadIdx.x] = rsqrtf(in[threadIdx.x] + 1e-5f);
}
LITMUS(inverse_root_with_epsilon) { run(inverse_root_with_epsilon, in_order()); }

// expect: not-a-number global
__global__ void logarithm_of_negative(const float* in, float* out) {
  out[threadIdx.x] = __logf(in[threadIdx.x] - 0.5f);  //~ compute //~ write
}
LITMUS(logarithm_of_negative) { run(logarithm_of_negative, in_order()); }

// expect: infinity global
__global__ void logarithm_of_zero(const float* in, float* out) {
  out[threadIdx.x] = __logf(in[threadIdx.x]);  //~ compute //~ write
}
LITMUS(logarithm_of_zero) { run(logarithm_of_zero, in_order()); }

// expect: clean
__global__ void logarithm_of_positive(const float* in, float* out) {
  out[threadIdx.x] = __logf(in[threadIdx.x] + 1);
}
LITMUS(logarithm_of_positive) { run(logarithm_of_positive, in_order()); }

// expect: infinity global
__global__ void exponential_overflows(const float* in, float* out) {
  out[threadIdx.x] = exp2f(in[threadIdx.x] * 8);  //~ compute //~ write
}
LITMUS(exponential_overflows) { run(exponential_overflows, in_order()); }

// The infinity is divided away: a logistic function needs no more.
// expect: clean
__global__ void infinity_divided_away(const float* in, float* out) {
  out[threadIdx.x] = 1.0f / (1.0f + exp2f(in[threadIdx.x] * 8));
}
LITMUS(infinity_divided_away) { run(infinity_divided_away, in_order()); }

// expect: infinity global
__global__ void softmax_without_maximum(const float* in, float* out) {
  const float e = exp2f(in[threadIdx.x] * 5);  //~ compute
  float sum = e;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  out[threadIdx.x] = e / sum;  //~ write
}
LITMUS(softmax_without_maximum) { run(softmax_without_maximum, in_order()); }

// expect: clean
__global__ void softmax_with_maximum(const float* in, float* out) {
  float most = in[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
  const float e = exp2f((in[threadIdx.x] - most) * 5);
  float sum = e;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  out[threadIdx.x] = e / sum;
}
LITMUS(softmax_with_maximum) { run(softmax_with_maximum, in_order()); }

// All of a row is masked.
// expect: not-a-number global
__global__ void masked_row(const float* in, float* out) {
  float most = in[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
  out[threadIdx.x] = exp2f(in[threadIdx.x] - most);  //~ compute //~ write
}
LITMUS(masked_row) { run(masked_row, filled(-INFINITY)); }

// expect: clean
__global__ void masked_row_is_zero(const float* in, float* out) {
  float most = in[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffffu, most, d));
  out[threadIdx.x] = most == -INFINITY ? 0 : exp2f(in[threadIdx.x] - most);
}
LITMUS(masked_row_is_zero) { run(masked_row_is_zero, filled(-INFINITY)); }

// expect: clean
__global__ void masks(const float* in, float* out) {
  out[threadIdx.x] = threadIdx.x % 2 == 0 ? -INFINITY : in[threadIdx.x];
}
LITMUS(masks) { run(masks, in_order()); }

// Missing values are NaNs of the host's, which a maximum shall ignore.
// expect: clean
__global__ void maximum_of_known(const float* in, float* out) {
  out[threadIdx.x] = fmaxf(in[threadIdx.x], 0) + in[threadIdx.x];
}
LITMUS(maximum_of_known) { run(maximum_of_known, filled(NAN)); }

// expect: ignored-nan note
__global__ void maximum_drops(const float* in, float* out) {
  const float quotient = in[threadIdx.x] / in[threadIdx.x];  //~ compute
  out[threadIdx.x] = fmaxf(quotient, 0);                     //~ compute
}
LITMUS(maximum_drops) { run(maximum_drops, in_order()); }

// expect: ignored-nan note
__global__ void comparison_drops(const float* in, float* out) {
  const float quotient = in[threadIdx.x] / in[threadIdx.x];  //~ compute
  if (quotient > 0.5f) out[threadIdx.x] = quotient;          //~ compute
}
LITMUS(comparison_drops) { run(comparison_drops, in_order()); }

// expect: clean
__global__ void tests_for_nan(const float* in, float* out) {
  const float quotient = in[threadIdx.x] / in[threadIdx.x];
  out[threadIdx.x] = isnan(quotient) ? 1 : quotient;
}
LITMUS(tests_for_nan) { run(tests_for_nan, in_order()); }

// Through shared memory, a shuffle and two more kernels.
// expect: not-a-number global
__global__ void makes(const float* in, float* out) {
  __shared__ float values[kCount];
  values[threadIdx.x] = in[threadIdx.x] / in[threadIdx.x];  //~ compute
  __syncthreads();
  out[threadIdx.x] = values[kCount - 1 - threadIdx.x];
}
__global__ void hands_on(const float* in, float* out) {
  out[threadIdx.x] = __shfl_sync(0xffffffffu, in[threadIdx.x], threadIdx.x ^ 1);
}
__global__ void adds(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x] + 1;  //~ write
}
LITMUS(through_three_kernels) {
  float* const a = in_order();
  float* const b = zeroed<float>(kCount);
  float* const c = zeroed<float>(kCount);
  makes<<<1, kCount>>>(a, b);
  hands_on<<<1, kCount>>>(b, c);
  adds<<<1, kCount>>>(c, a);
  copy_out(a, kCount);
}

// expect: clean
LITMUS(overwritten_before_it_is_read) {
  float* const a = in_order();
  float* const b = zeroed<float>(kCount);
  makes<<<1, kCount>>>(a, b);
  adds<<<1, kCount>>>(a, b);
  copy_out(b, kCount);
}

// expect: not-a-number global note
__global__ void nobody_reads(const float* in, float* out) {
  out[threadIdx.x] = in[threadIdx.x] / in[threadIdx.x];  //~ compute //~ write
}
LITMUS(nobody_reads) { nobody_reads<<<1, kCount>>>(in_order(), zeroed<float>(kCount)); }

// expect: infinity global
__global__ void atomic_sum_overflows(const float* in, float* out) {
  atomicAdd(out, in[threadIdx.x]);  //~ compute //~ atomic
}
LITMUS(atomic_sum_overflows) { run(atomic_sum_overflows, filled(1e38f)); }

// expect: clean
LITMUS(atomic_sum_fits) { run(atomic_sum_overflows, filled(1e36f)); }

// expect: lossy-conversion global
__global__ void does_not_fit(const float* in, int* out) {
  out[threadIdx.x] = static_cast<int>(in[threadIdx.x]);  //~ compute //~ write
}
LITMUS(does_not_fit) {
  int* const out = zeroed<int>(kCount);
  does_not_fit<<<1, kCount>>>(filled(3e9f), out);
  copy_out(out, kCount);
}

// expect: clean
__global__ void clamps(const float* in, int* out) {
  out[threadIdx.x] = min(max(static_cast<int>(in[threadIdx.x]), 0), 255);
}
LITMUS(clamps) {
  int* const out = zeroed<int>(kCount);
  clamps<<<1, kCount>>>(filled(3e9f), out);
  copy_out(out, kCount);
}

// Only a byte of the integer is used.
// expect: lossy-conversion global
__global__ void byte_of_large(const float* in, unsigned char* out) {
  out[threadIdx.x] = static_cast<unsigned char>(in[threadIdx.x]);  //~ compute //~ write
}
LITMUS(byte_of_large) {
  auto* const out = zeroed<unsigned char>(kCount);
  byte_of_large<<<1, kCount>>>(filled(300), out);
  copy_out(out, kCount);
}

// expect: clean
LITMUS(byte_of_small) {
  auto* const out = zeroed<unsigned char>(kCount);
  byte_of_large<<<1, kCount>>>(filled(255.5f), out);
  copy_out(out, kCount);
}

// Through an integer, 200 is a byte, signed or not.
// expect: clean
__global__ void byte_of_integer(const float* in, unsigned char* out) {
  const int whole = static_cast<int>(in[threadIdx.x]);
  out[threadIdx.x] = static_cast<unsigned char>(whole);
}
LITMUS(byte_of_integer) {
  auto* const out = zeroed<unsigned char>(kCount);
  byte_of_integer<<<1, kCount>>>(filled(200), out);
  copy_out(out, kCount);
}

// expect: lossy-conversion global
__global__ void sample_of_large(const float* in, short* out) {
  out[threadIdx.x] = static_cast<short>(in[threadIdx.x] * 32'768);  //~ compute //~ write
}
LITMUS(sample_of_large) {
  auto* const out = zeroed<short>(kCount);
  sample_of_large<<<1, kCount>>>(filled(3), out);
  copy_out(out, kCount);
}

// expect: clean
LITMUS(sample_fits) {
  auto* const out = zeroed<short>(kCount);
  sample_of_large<<<1, kCount>>>(filled(0.5f), out);
  copy_out(out, kCount);
}

// A hash of what is lost is lost, too: all large coordinates have one.
// expect: lossy-conversion
__global__ void cell_of_large(const float* in, float* out, unsigned cells) {
  const int x = static_cast<int>(floorf(in[threadIdx.x] * 1e9f));       //~ compute
  const unsigned cell = (x * 73'856'093u ^ threadIdx.x) % cells;
  out[cell] = 1;                                                        //~ write
}
LITMUS(cell_of_large) { cell_of_large<<<1, 1>>>(filled(30), zeroed<float>(kCount), kCount); }

// expect: clean
LITMUS(cell_of_small) { cell_of_large<<<1, 1>>>(filled(0.5f), zeroed<float>(kCount), kCount); }

// expect: infinity global
__global__ void negative_power(const float* in, float* out) {
  out[threadIdx.x] = powf(in[threadIdx.x], -2.0f);  //~ compute //~ write
}
LITMUS(negative_power) { run(negative_power, in_order()); }

// expect: clean
LITMUS(negative_power_of_some) { run(negative_power, filled(3)); }

// expect: infinity global
__global__ void inverse_cube_root(const float* in, float* out) {
  out[threadIdx.x] = rcbrtf(in[threadIdx.x]);  //~ compute //~ write
}
LITMUS(inverse_cube_root) { run(inverse_cube_root, in_order()); }

// The inverse of an infinity is 0, and that of 0 is selected away.
// expect: clean
__global__ void inverse_cube_root_of_some(const float* in, float* out) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = x == 0 ? 0 : rcbrtf(x) + rcbrtf(x * INFINITY);
}
LITMUS(inverse_cube_root_of_some) { run(inverse_cube_root_of_some, in_order()); }

// expect: lossy-conversion
__global__ void index_of_nan(const float* in, float* out) {
  const int index = static_cast<int>(in[threadIdx.x]);  //~ compute
  out[index + threadIdx.x] = 1;                         //~ write
}
LITMUS(index_of_nan) { run(index_of_nan, filled(NAN)); }

// expect: clean
__global__ void index_of_number(const float* in, float* out) {
  const int index = static_cast<int>(in[threadIdx.x]);
  out[index] = 1;
}
LITMUS(index_of_number) { run(index_of_number, in_order()); }

// expect: not-a-number global
__global__ void sums_of_doubles(const float* in, float* out) {
  const double x = in[threadIdx.x];
  const double quotient = (x - x) / (x * 0);  //~ compute
  out[threadIdx.x] = static_cast<float>(quotient);  //~ write
}
LITMUS(sums_of_doubles) { run(sums_of_doubles, in_order()); }

// expect: clean
__global__ void quotients_of_doubles(const float* in, float* out) {
  const double x = in[threadIdx.x];
  out[threadIdx.x] = static_cast<float>((x - 1) / (x * x + 1));
}
LITMUS(quotients_of_doubles) { run(quotients_of_doubles, in_order()); }

// expect: infinity global
__global__ void double_does_not_fit(const float* in, float* out) {
  const double square = static_cast<double>(in[threadIdx.x]) * in[threadIdx.x];
  out[threadIdx.x] = static_cast<float>(square);  //~ compute //~ write
}
LITMUS(double_does_not_fit) { run(double_does_not_fit, filled(1e30f)); }

// Atomics on the bits of floats.
// expect: ignored-nan global
__global__ void maximum_of_bits(const float* in, float* out) {
  const float value = in[threadIdx.x] - 40;
  atomicMax(reinterpret_cast<int*>(out), __float_as_int(value));  //~ atomic
}
LITMUS(maximum_of_bits) {
  float* const out = filled(-100);
  maximum_of_bits<<<1, kCount>>>(in_order(), out);
  copy_out(out, kCount);
}

// expect: clean
__global__ void maximum_of_positive_bits(const float* in, float* out) {
  const float value = in[threadIdx.x] + 40;
  atomicMax(reinterpret_cast<int*>(out), __float_as_int(value));
}
LITMUS(maximum_of_positive_bits) { run(maximum_of_positive_bits, in_order()); }

// expect: underflow note
__global__ void flushed(const float* in, float* out) {
  const float x = in[threadIdx.x];
  float y;
  asm("mul.ftz.f32 %0, %1, 0f00800000;" : "=f"(y) : "f"(x));  //~ compute
  out[threadIdx.x] = y;
}
LITMUS(flushed) { run(flushed, filled(0.5f)); }

// expect: clean
LITMUS(not_flushed) { run(flushed, filled(2)); }

// The compiler knows that the row is masked, and subtracts one literal from the other.
// expect: not-a-number global
__global__ void masked_everywhere(const float* in, float* out) {
  const float most = -INFINITY;
  out[threadIdx.x] = in[threadIdx.x] + (-INFINITY - most);  //~ compute //~ write
}
LITMUS(masked_everywhere) { run(masked_everywhere, in_order()); }
