// NaNs, infinities, lost and wrapped integers in plain programs, each with a twin that means it.
// All of a kind run in one process.
//
// build: -arch=compute_80 -std=c++17
//
// case planted: | --check numerics | planted
// expect planted: error not-a-number quotient_of_zeros
// expect planted: error not-a-number root_of_negative
// expect planted: error not-a-number inverse_root_of_negative
// expect planted: error not-a-number fast_logarithm_of_negative
// expect planted: error not-a-number logarithm_of_negative
// expect planted: error not-a-number arc_beyond_one
// expect planted: error not-a-number masked_row
// expect planted: error not-a-number infinity_times_zero
// expect planted: error not-a-number length_of_zero
// expect planted: error not-a-number mean_of_none
// expect planted: error not-a-number nan_in_double
// expect planted: error not-a-number root_in_double
// expect planted: error not-a-number logarithm_in_double
// expect planted: error not-a-number nan_in_a_shuffle
// expect planted: error not-a-number nan_in_shared
// expect planted: error not-a-number nan_in_a_sum
// expect planted: error not-a-number power_of_negative
// expect planted: error not-a-number power_in_double
// expect planted: error not-a-number remainder_of_zero
// expect planted: error not-a-number gamma_of_negative
// expect planted: error infinity pole_of_gamma
// expect planted: error infinity exponent_of_zero
// expect planted: error not-a-number bessel_of_negative
// expect planted: error infinity error_function_of_one
// expect planted: error infinity gamma_in_double
// expect planted: error infinity length_in_double
// expect planted: error lossy-conversion bin_of_nan
// expect planted: error not-a-number printed_quotient
// expect planted: error not-a-number level_of_nan
// expect planted: error infinity bfloat_of_bits
// expect planted: error not-a-number nan_of_bits
// expect planted: error infinity quotient_by_zero
// expect planted: error infinity fast_quotient_by_zero
// expect planted: error infinity inverse_root_of_zero
// expect planted: error infinity logarithm_of_zero
// expect planted: error infinity exponential
// expect planted: error infinity fast_exponential
// expect planted: error infinity exponential_in_double
// expect planted: error infinity square
// expect planted: note infinity direction_of_large
// expect planted: note infinity root_of_halves
// expect planted: error infinity power_of_two
// expect planted: error infinity exp2_in_double
// expect planted: error infinity cosh_in_double
// expect planted: error not-a-number asin_in_double
// expect planted: error infinity factorial
// expect planted: error infinity half_of_large
// expect planted: error infinity sum_of_halves
// expect planted: error infinity largest_as_bfloat
// expect planted: error infinity double_as_float
// expect planted: error infinity softmax
// expect planted: error lossy-conversion large_as_integer
// expect planted: error lossy-conversion negative_as_unsigned
// expect planted: error lossy-conversion index_of_nan
// expect planted: error lossy-conversion clamped_below
// expect planted: error wrapped-integer bound_wraps
// expect planted: error wrapped-integer index_wraps
// expect planted: error not-a-number large_as_byte
// expect planted: error infinity large_as_wide_byte
// expect planted: error not-a-number nan_as_byte
// expect planted: note ignored-nan maximum_drops
// expect planted: note ignored-nan comparison_drops
// expect planted: error ignored-nan maximum_of_bits
// expect planted: error ignored-nan maximum_of_loaded
// expect planted: note underflow small_as_half
//
// case meant: | --check numerics | meant
// expect meant: clean
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace {

constexpr int kCount = 32;

std::vector<float> flat(float value) { return std::vector<float>(kCount, value); }
std::vector<float> ascending() {
  std::vector<float> list(kCount);
  for (int i = 0; i < kCount; ++i) list[i] = static_cast<float>(i);
  return list;
}
std::vector<float> descending() {
  std::vector<float> list = ascending();
  std::reverse(list.begin(), list.end());
  return list;
}
std::vector<float> negative() {
  std::vector<float> list = descending();
  for (float& one : list) one -= 40;
  return list;
}

using Kernel = void (*)(const float*, const float*, float*, int);

void run(Kernel kernel, const std::vector<float>& left, const std::vector<float>& right) {
  constexpr std::size_t kBytes = sizeof(float) * kCount;
  constexpr int kRows = 65'536;
  float *device_left, *device_right, *out;
  cudaMalloc(&device_left, kBytes);
  cudaMalloc(&device_right, kBytes);
  cudaMalloc(&out, 2 * kBytes);
  cudaMemset(out, 0, 2 * kBytes);
  cudaMemcpy(device_left, left.data(), kBytes, cudaMemcpyHostToDevice);
  cudaMemcpy(device_right, right.data(), kBytes, cudaMemcpyHostToDevice);
  kernel<<<1, kCount>>>(device_left, device_right, out, kRows);
  std::vector<float> host(kCount);
  cudaMemcpy(host.data(), out, kBytes, cudaMemcpyDeviceToHost);
  cudaFree(device_left);
  cudaFree(device_right);
  cudaFree(out);
}

#define KERNEL(name) \
  __global__ void name(const float* left, const float* right, float* out, int rows)
#define GIVEN                               \
  const int i = threadIdx.x;                \
  [[maybe_unused]] const float x = left[i]; \
  [[maybe_unused]] const float y = right[i]

KERNEL(quotient_of_zeros) {
  GIVEN;
  out[i] = x / y;  //~ quotient_of_zeros
}

KERNEL(quotient_of_zeros_meant) {
  GIVEN;
  out[i] = y == 0 ? 0 : x / y;
}

KERNEL(root_of_negative) {
  GIVEN;
  out[i] = sqrtf(x - 3);  //~ root_of_negative
}

KERNEL(root_of_negative_meant) {
  GIVEN;
  out[i] = sqrtf(fmaxf(x - 3, 0));
}

KERNEL(inverse_root_of_negative) {
  GIVEN;
  out[i] = rsqrtf(x - 40);  //~ inverse_root_of_negative
}

KERNEL(inverse_root_of_negative_meant) {
  GIVEN;
  out[i] = rsqrtf(x + 40);
}

KERNEL(fast_logarithm_of_negative) {
  GIVEN;
  out[i] = __logf(x - 40.5f);  //~ fast_logarithm_of_negative
}

KERNEL(fast_logarithm_of_negative_meant) {
  GIVEN;
  out[i] = __logf(x + 0.5f);
}

KERNEL(logarithm_of_negative) {
  GIVEN;
  out[i] = logf(x - 40.5f);  //~ logarithm_of_negative
}

KERNEL(logarithm_of_negative_meant) {
  GIVEN;
  out[i] = logf(x + 0.5f);
}

KERNEL(arc_beyond_one) {
  GIVEN;
  out[i] = acosf(x * 1.001f);  //~ arc_beyond_one
}

KERNEL(arc_beyond_one_meant) {
  GIVEN;
  out[i] = acosf(fminf(x * 1.001f, 1));
}

KERNEL(masked_row) {
  GIVEN;
  out[i] = expf(x - y);  //~ masked_row
}

KERNEL(masked_row_meant) {
  GIVEN;
  out[i] = y == -INFINITY ? 0 : expf(x - y);
}

KERNEL(infinity_times_zero) {
  GIVEN;
  out[i] = x * y;  //~ infinity_times_zero
}

KERNEL(infinity_times_zero_meant) {
  GIVEN;
  out[i] = y == 0 ? 0 : x * y;
}

KERNEL(length_of_zero) {
  GIVEN;
  out[i] = x / sqrtf(x * x + y * y);  //~ length_of_zero
}

KERNEL(length_of_zero_meant) {
  GIVEN;
  out[i] = x / fmaxf(sqrtf(x * x + y * y), 1e-12f);
}

KERNEL(mean_of_none) {
  GIVEN;
  out[i] = x / static_cast<float>(i / 2);  //~ mean_of_none
}

KERNEL(mean_of_none_meant) {
  GIVEN;
  out[i] = i / 2 == 0 ? NAN : x / static_cast<float>(i / 2);
}

KERNEL(nan_in_double) {
  GIVEN;
  const double quotient = (x - 1.0) / (y - 1.0);  //~ nan_in_double
  out[i] = static_cast<float>(quotient);          //~ nan_in_double
}

KERNEL(nan_in_double_meant) {
  GIVEN;
  out[i] = static_cast<float>((x - 1.0) / (y + 1.0));
}

KERNEL(root_in_double) {
  GIVEN;
  const double root = sqrt(x - 3.0);  //~ root_in_double
  out[i] = static_cast<float>(root);  //~ root_in_double
}

KERNEL(root_in_double_meant) {
  GIVEN;
  out[i] = static_cast<float>(sqrt(x + 3.0));
}

KERNEL(logarithm_in_double) {
  GIVEN;
  out[i] = static_cast<float>(log(x - 40.5));  //~ logarithm_in_double
}

KERNEL(logarithm_in_double_meant) {
  GIVEN;
  out[i] = static_cast<float>(log(x + 0.5));
}

KERNEL(nan_in_a_shuffle) {
  GIVEN;
  float v = x / y;  //~ nan_in_a_shuffle
  v += __shfl_xor_sync(~0u, v, 1);
  out[i] = v;  //~ nan_in_a_shuffle
}

KERNEL(nan_in_a_shuffle_meant) {
  GIVEN;
  float v = x / y;
  v = isnan(v) ? 0 : v;
  out[i] = v + __shfl_xor_sync(~0u, v, 1);
}

KERNEL(nan_in_shared) {
  GIVEN;
  __shared__ float part[32];
  part[i] = x / y;  //~ nan_in_shared
  __syncthreads();
  out[i] = part[31 - i];  //~ nan_in_shared
}

KERNEL(nan_in_shared_meant) {
  GIVEN;
  __shared__ float part[32];
  part[i] = x / (y + 1);
  __syncthreads();
  out[i] = part[31 - i];
}

KERNEL(nan_in_a_sum) {
  GIVEN;
  const float v = x / y;  //~ nan_in_a_sum
  atomicAdd(out, v);      //~ nan_in_a_sum
}

KERNEL(nan_in_a_sum_meant) {
  GIVEN;
  atomicAdd(out, y > 0 ? x / y : 0);
}

KERNEL(quotient_by_zero) {
  GIVEN;
  out[i] = 1 / x;  //~ quotient_by_zero
}

KERNEL(quotient_by_zero_meant) {
  GIVEN;
  out[i] = x > 0 ? 1 / x : 0;
}

KERNEL(fast_quotient_by_zero) {
  GIVEN;
  out[i] = __fdividef(1, x);  //~ fast_quotient_by_zero
}

KERNEL(fast_quotient_by_zero_meant) {
  GIVEN;
  out[i] = __fdividef(1, x + 1);
}

KERNEL(inverse_root_of_zero) {
  GIVEN;
  out[i] = rsqrtf(x);  //~ inverse_root_of_zero
}

KERNEL(inverse_root_of_zero_meant) {
  GIVEN;
  out[i] = rsqrtf(x + 1e-5f);
}

KERNEL(logarithm_of_zero) {
  GIVEN;
  out[i] = __log2f(x);  //~ logarithm_of_zero
}

KERNEL(logarithm_of_zero_meant) {
  GIVEN;
  out[i] = __log2f(fmaxf(x, 1e-30f));
}

KERNEL(exponential) {
  GIVEN;
  out[i] = expf(x * 4);  //~ exponential
}

KERNEL(exponential_meant) {
  GIVEN;
  out[i] = 1 / (1 + expf(x * 4));
}

KERNEL(fast_exponential) {
  GIVEN;
  out[i] = __expf(x * 4);  //~ fast_exponential
}

KERNEL(fast_exponential_meant) {
  GIVEN;
  out[i] = 1 / (1 + __expf(x * 4));
}

KERNEL(exponential_in_double) {
  GIVEN;
  const double power = exp(x * 40.0);  //~ exponential_in_double
  out[i] = static_cast<float>(power);  //~ exponential_in_double
}

KERNEL(exponential_in_double_meant) {
  GIVEN;
  out[i] = static_cast<float>(1 / (1 + exp(x * 40.0)));
}

KERNEL(square) {
  GIVEN;
  out[i] = sqrtf(x * x);  //~ square
}

KERNEL(square_meant) {
  GIVEN;
  out[i] = hypotf(x, y);
}

KERNEL(direction_of_large) {
  GIVEN;
  const float square = x * x + y * y;  //~ direction_of_large
  out[i] = x / sqrtf(square);          //~ direction_of_large
}

KERNEL(direction_of_large_meant) {
  GIVEN;
  out[i] = x * rhypotf(x, y) + 1 / sqrtf(left[0] * right[0]);
}

KERNEL(root_of_halves) {
  GIVEN;
  const __half h = __float2half(x * 100);
  const __half square = __hmul(h, h);                          //~ root_of_halves
  out[i] = x == 0 ? 0 : __half2float(__hmul(h, hrsqrt(square)));  //~ root_of_halves
}

KERNEL(root_of_halves_meant) {
  GIVEN;
  const __half h = __float2half(x * 100);
  out[i] = __half2float(__hmul(h, __float2half(rsqrtf(x * x * 10000 + 1))));
}

KERNEL(exp2_in_double) {
  GIVEN;
  const double result = exp2(x * 60.0);  //~ exp2_in_double
  out[i] = static_cast<float>(result);  //~ exp2_in_double
}
KERNEL(exp2_in_double_meant) {
  GIVEN;
  out[i] = static_cast<float>(exp2(x));
}

KERNEL(cosh_in_double) {
  GIVEN;
  const double result = cosh(x * 40.0);  //~ cosh_in_double
  out[i] = static_cast<float>(result);  //~ cosh_in_double
}
KERNEL(cosh_in_double_meant) {
  GIVEN;
  out[i] = static_cast<float>(cosh(x));
}

KERNEL(asin_in_double) {
  GIVEN;
  const double result = asin(x + 2.0);  //~ asin_in_double
  out[i] = static_cast<float>(result);  //~ asin_in_double
}
KERNEL(asin_in_double_meant) {
  GIVEN;
  out[i] = static_cast<float>(asin(x / 64.0));
}

KERNEL(power_of_two) {
  GIVEN;
  out[i] = exp2f(x * 5);  //~ power_of_two
}

KERNEL(power_of_two_meant) {
  GIVEN;
  out[i] = exp2f(x * 4);
}

KERNEL(factorial) {
  GIVEN;
  float f = 1;
  for (int k = 1; k < 10 + i; ++k) f *= static_cast<float>(k);  //~ factorial
  out[i] = f;                                                   //~ factorial
}

KERNEL(factorial_meant) {
  GIVEN;
  float f = 0;
  for (int k = 1; k < 10 + i; ++k) f += logf(static_cast<float>(k));
  out[i] = f;
}

KERNEL(half_of_large) {
  GIVEN;
  const __half h = __float2half(x * 3000);  //~ half_of_large
  out[i] = __half2float(h);                 //~ half_of_large
}

KERNEL(half_of_large_meant) {
  GIVEN;
  out[i] = __half2float(__float2half(fminf(x * 3000, 65504)));
}

KERNEL(sum_of_halves) {
  GIVEN;
  __half h = __float2half(x);
  for (int k = 0; k < 12; ++k) h = __hadd(h, h);  //~ sum_of_halves
  out[i] = __half2float(h);                       //~ sum_of_halves
}

KERNEL(sum_of_halves_meant) {
  GIVEN;
  float h = x;
  for (int k = 0; k < 12; ++k) h += h;
  out[i] = h;
}

KERNEL(largest_as_bfloat) {
  GIVEN;
  const __nv_bfloat16 b = __float2bfloat16(x * 3.4e38f);  //~ largest_as_bfloat
  out[i] = __bfloat162float(b);                           //~ largest_as_bfloat
}

KERNEL(largest_as_bfloat_meant) {
  GIVEN;
  out[i] = __bfloat162float(__float2bfloat16(x * 3.3e38f));
}

KERNEL(double_as_float) {
  GIVEN;
  out[i] = static_cast<float>(x * 1e38);  //~ double_as_float
}

KERNEL(double_as_float_meant) {
  GIVEN;
  out[i] = static_cast<float>(x * 1e37);
}

KERNEL(softmax) {
  GIVEN;
  __shared__ float sum;
  if (i == 0) sum = 0;
  __syncthreads();
  const float e = expf(x * 4);  //~ softmax
  atomicAdd(&sum, e);
  __syncthreads();
  out[i] = e / sum;  //~ softmax
}

KERNEL(softmax_meant) {
  GIVEN;
  __shared__ float sum;
  if (i == 0) sum = 0;
  __syncthreads();
  const float e = expf((x - 31) * 4);
  atomicAdd(&sum, e);
  __syncthreads();
  out[i] = e / sum;
}

KERNEL(large_as_integer) {
  GIVEN;
  out[i] = __int_as_float(static_cast<int>(x * 1e9f));  //~ large_as_integer
}

KERNEL(large_as_integer_meant) {
  GIVEN;
  out[i] = __int_as_float(min(max(static_cast<int>(x * 1e9f), 0), 255));
}

KERNEL(negative_as_unsigned) {
  GIVEN;
  out[i] = __uint_as_float(static_cast<unsigned>(-1 - x));  //~ negative_as_unsigned
}

KERNEL(negative_as_unsigned_meant) {
  GIVEN;
  out[i] = __uint_as_float(static_cast<unsigned>(1 + x));
}

KERNEL(index_of_nan) {
  GIVEN;
  const int at = static_cast<int>(x);  //~ index_of_nan
  out[at + i] = 1;                     //~ index_of_nan
}

KERNEL(index_of_nan_meant) {
  GIVEN;
  const int at = isnan(x) ? 0 : static_cast<int>(x);
  out[at + i] = 1;
}

KERNEL(power_of_negative) {
  GIVEN;
  out[i] = powf(x - 40, 0.45f);  //~ power_of_negative
}

KERNEL(power_of_negative_meant) {
  GIVEN;
  out[i] = powf(x - 40, 2) + powf(x, 0.45f);
}

KERNEL(power_in_double) {
  GIVEN;
  out[i] = static_cast<float>(pow(x - 40.0, 1.0 / 3));  //~ power_in_double
}

KERNEL(power_in_double_meant) {
  GIVEN;
  out[i] = static_cast<float>(cbrt(x - 40.0) + pow(x - 40.0, 3.0));
}

KERNEL(remainder_of_zero) {
  GIVEN;
  out[i] = fmodf(x + 1, y);  //~ remainder_of_zero
}

KERNEL(remainder_of_zero_meant) {
  GIVEN;
  out[i] = fmodf(x + 1, y + 3);
}

KERNEL(gamma_of_negative) {
  GIVEN;
  out[i] = tgammaf(x - 40);  //~ gamma_of_negative
}

KERNEL(gamma_of_negative_meant) {
  GIVEN;
  out[i] = tgammaf(x - 40.5f);
}

KERNEL(pole_of_gamma) {
  GIVEN;
  out[i] = lgammaf(x - 40);  //~ pole_of_gamma
}

KERNEL(pole_of_gamma_meant) {
  GIVEN;
  out[i] = lgammaf(x - 40.5f) + lgammaf(y);
}

KERNEL(exponent_of_zero) {
  GIVEN;
  out[i] = logbf(x);  //~ exponent_of_zero
}

KERNEL(exponent_of_zero_meant) {
  GIVEN;
  out[i] = logbf(x + 1) + logbf(y);
}

KERNEL(bessel_of_negative) {
  GIVEN;
  out[i] = y0f(x - 3.5f);  //~ bessel_of_negative
}

KERNEL(bessel_of_negative_meant) {
  GIVEN;
  out[i] = y0f(x + 0.5f) + y0f(y);
}

KERNEL(error_function_of_one) {
  GIVEN;
  const double result = erfinv(x / 16.0);  //~ error_function_of_one
  out[i] = i <= 16 ? static_cast<float>(result) : 0;  //~ error_function_of_one
}

KERNEL(error_function_of_one_meant) {
  GIVEN;
  out[i] = static_cast<float>(erfinv(x / 32.0) + erfinv(static_cast<double>(y)));
}

KERNEL(gamma_in_double) {
  GIVEN;
  const double result = tgamma(x * 8.0 + 1);  //~ gamma_in_double
  out[i] = result > 1e30 ? static_cast<float>(result * 1e-300) : 0;  //~ gamma_in_double
}

KERNEL(gamma_in_double_meant) {
  GIVEN;
  out[i] = static_cast<float>(tgamma(x * 5.0 + 1) * 1e-280);
}

KERNEL(length_in_double) {
  GIVEN;
  const double wide = x * 1e300 * 1e7;                              //~ length_in_double
  out[i] = static_cast<float>(hypot(wide, static_cast<double>(y)));  //~ length_in_double
}

KERNEL(length_in_double_meant) {
  GIVEN;
  out[i] = static_cast<float>(hypot(x * 1e300, x * 1e300) * 1e-300);
}

// The NaN is counted in the first bin.
KERNEL(bin_of_nan) {
  GIVEN;
  const int bin = min(max(static_cast<int>(x * 8), 0), 7);  //~ bin_of_nan
  atomicAdd(out + bin, 1.0f);                               //~ bin_of_nan
}

KERNEL(bin_of_nan_meant) {
  GIVEN;
  if (isnan(x)) return;
  atomicAdd(out + min(max(static_cast<int>(x * 1e20f), 0), 7), 1.0f);
}

KERNEL(printed_quotient) {
  GIVEN;
  const float v = x / y;                     //~ printed_quotient
  if (i == 3) printf("i %d, v %f\n", i, v);  //~ printed_quotient
}

KERNEL(printed_quotient_meant) {
  GIVEN;
  const float v = x / y;
  if (i == 3) printf("i %d, x %f, %s\n", i, x, isnan(v) ? "no" : "a number");
}

// The level of a NaN is 0.
KERNEL(level_of_nan) {
  GIVEN;
  const int level = __float2int_rn(x / y);                              //~ level_of_nan
  reinterpret_cast<signed char*>(out)[i] = min(max(level, -128), 127);  //~ level_of_nan
}

KERNEL(level_of_nan_meant) {
  GIVEN;
  const int level = __float2int_rn(x / (y + 1e-30f) * 1e30f);
  reinterpret_cast<signed char*>(out)[i] = min(max(level, -128), 127);
}

KERNEL(clamped_below) {
  GIVEN;
  const int bin = static_cast<int>(x * 1e9f);  //~ clamped_below
  out[i] = __int_as_float(bin < 0 ? 0 : bin);  //~ clamped_below
}

KERNEL(clamped_below_meant) {
  GIVEN;
  const int bin = static_cast<int>(x * -1e9f);
  out[i] = __int_as_float(bin < 0 ? 0 : bin);
}

// As the toolkit does for targets below sm_80.
__device__ unsigned short bfloat_bits(float value) {
  const unsigned bits = __float_as_uint(value);
  const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
  const unsigned rest = is_nan ? 0 : bits << 16;
  unsigned short upper = is_nan ? 0x7fff : bits >> 16;
  if (rest > 0x80000000 || (rest == 0x80000000 && (upper & 1) != 0)) ++upper;  //~ bfloat_of_bits
  return upper;
}
__device__ float float_of_bfloat(unsigned short bits) { return __uint_as_float(bits << 16); }

KERNEL(bfloat_of_bits) {
  GIVEN;
  const unsigned short upper = bfloat_bits(x * 3.4e38f);
  out[i] = float_of_bfloat(upper);  //~ bfloat_of_bits
}

KERNEL(bfloat_of_bits_meant) {
  GIVEN;
  out[i] = float_of_bfloat(bfloat_bits(x * 3.3e38f));
}

KERNEL(nan_of_bits) {
  GIVEN;
  out[i] = float_of_bfloat(bfloat_bits(x / y));  //~ nan_of_bits
}

KERNEL(nan_of_bits_meant) {
  GIVEN;
  out[i] = float_of_bfloat(bfloat_bits(x));
}

KERNEL(maximum_of_loaded) {
  GIVEN;
  if (i == 0) *out = -100;
  __syncwarp();
  atomicMax(reinterpret_cast<int*>(out), __float_as_int(left[i]));  //~ maximum_of_loaded
}

KERNEL(maximum_of_loaded_meant) {
  GIVEN;
  atomicMax(reinterpret_cast<int*>(out), __float_as_int(left[i]));
}

KERNEL(bound_wraps) {
  GIVEN;
  const int n = rows * rows;  //~ bound_wraps
  if (i < n) out[i] = x;      //~ bound_wraps
}

KERNEL(bound_wraps_meant) {
  GIVEN;
  const long long n = 1LL * rows * rows;
  if (i < n) out[i] = x;
}

KERNEL(index_wraps) {
  GIVEN;
  const unsigned at = rows * rows + i;  //~ index_wraps
  out[at] = x;                          //~ index_wraps
}

KERNEL(index_wraps_meant) {
  GIVEN;
  const unsigned at = rows % 32 + i;
  out[at] = x;
}

KERNEL(maximum_drops) {
  GIVEN;
  const float v = x / y;  //~ maximum_drops
  out[i] = fmaxf(v, 0);   //~ maximum_drops
}

KERNEL(maximum_drops_meant) {
  GIVEN;
  out[i] = fmaxf(x, 0);
}

KERNEL(comparison_drops) {
  GIVEN;
  const float v = x / y;            //~ comparison_drops
  out[i] = v > 0.5f ? 1.0f : 0.0f;  //~ comparison_drops
}

KERNEL(comparison_drops_meant) {
  GIVEN;
  out[i] = x > 0.5f ? 1.0f : 0.0f;
}

KERNEL(maximum_of_bits) {
  GIVEN;
  const float v = x - 40;
  if (i == 0) *out = -100;
  __syncwarp();
  atomicMax(reinterpret_cast<int*>(out), __float_as_int(v));  //~ maximum_of_bits
}

KERNEL(maximum_of_bits_meant) {
  GIVEN;
  const float v = x - 40;
  if (i == 0) *out = -100;
  __syncwarp();
  if (v >= 0) {
    atomicMax(reinterpret_cast<int*>(out), __float_as_int(v));
  } else {
    atomicMin(reinterpret_cast<unsigned*>(out), __float_as_uint(v));
  }
}

KERNEL(large_as_byte) {
  GIVEN;
  const auto byte = __nv_cvt_float_to_fp8(x * 20, __NV_NOSAT, __NV_E4M3);  //~ large_as_byte
  reinterpret_cast<unsigned char*>(out)[i] = byte;                         //~ large_as_byte
}

KERNEL(large_as_byte_meant) {
  GIVEN;
  const auto byte = __nv_cvt_float_to_fp8(x * 20, __NV_SATFINITE, __NV_E4M3);
  reinterpret_cast<unsigned char*>(out)[i] = byte;
}

KERNEL(large_as_wide_byte) {
  GIVEN;
  const auto byte = __nv_cvt_float_to_fp8(x * 3e3f, __NV_NOSAT, __NV_E5M2);  //~ large_as_wide_byte
  reinterpret_cast<unsigned char*>(out)[i] = byte;                           //~ large_as_wide_byte
}

KERNEL(large_as_wide_byte_meant) {
  GIVEN;
  const auto byte = __nv_cvt_float_to_fp8(y, __NV_NOSAT, __NV_E5M2);
  reinterpret_cast<unsigned char*>(out)[i] = byte;
}

KERNEL(nan_as_byte) {
  GIVEN;
  const auto byte = __nv_cvt_float_to_fp8(x / y, __NV_SATFINITE, __NV_E4M3);  //~ nan_as_byte
  reinterpret_cast<unsigned char*>(out)[i] = byte;                            //~ nan_as_byte
}

KERNEL(nan_as_byte_meant) {
  GIVEN;
  const auto byte = __nv_cvt_float_to_fp8(x + y, __NV_SATFINITE, __NV_E4M3);
  reinterpret_cast<unsigned char*>(out)[i] = byte;
}

KERNEL(small_as_half) {
  GIVEN;
  const __half h = __float2half(x * 1e-9f);  //~ small_as_half
  out[i] = __half2float(h);
}

KERNEL(small_as_half_meant) {
  GIVEN;
  out[i] = x * 1e-9f;
}

KERNEL(literals_meant) {
  GIVEN;
  out[i] = x < 3 ? 0.0f / 0.0f : x;
}

// What is left of a hash names a place.
KERNEL(places_of_hashes_meant) {
  GIVEN;
  unsigned hash = 5'381;
  for (int k = 0; k < 12; ++k) hash = hash * 33 + i + k;
  const int of_sign = (static_cast<int>(hash) % 16 + 16) % 16;
  out[i] = left[hash % 10] + left[of_sign] + left[__umulhi(hash, kCount)];
}

// Functions of angles take the place of their coefficients from the quadrant.
KERNEL(functions_of_missing_meant) {
  GIVEN;
  const double wide = x;
  out[i] = static_cast<float>(sin(wide) + cos(wide)) + fmodf(x, 3) + fmodf(3, x) + remainderf(x, 3);
}

KERNEL(checksum_meant) {
  GIVEN;
  unsigned sum = 0, backwards = 0;
  for (int k = 0; k < kCount; ++k) {
    sum += __float_as_uint(left[k]) >> 1;
    backwards += __float_as_uint(left[kCount - 1 - k]) >> 1;
  }
  out[i] = sum == __float_as_uint(y) || sum == static_cast<unsigned>(rows) || sum != backwards;
}

KERNEL(greatest_of_numbers_meant) {
  GIVEN;
  float most = -1;
  int at = -1;
  for (int k = 0; k < kCount; ++k) {
    const float v = left[k] / right[k];
    if (!(v == v) || v < most) continue;
    most = v;
    at = k;
  }
  out[i] = __int_as_float(at);
}

KERNEL(specials_replaced_meant) {
  GIVEN;
  float v = x / y;
  if (isnan(v)) {
    v = 0;
  } else if (isinf(v)) {
    v = v > 0 ? 3e38f : -3e38f;
  }
  out[i] = v;
}

KERNEL(power_to_infinity_meant) {
  GIVEN;
  out[i] = powf(x + 2, y);
}

KERNEL(missing_values_meant) {
  GIVEN;
  out[i] = x + y;
}

KERNEL(greatest_of_masked_meant) {
  GIVEN;
  float most = -INFINITY;
  for (int k = 0; k < i; ++k) most = fmaxf(most, left[k] + right[k]);
  out[i] = most;
}

}  // namespace

int main(int, char** arguments) {
  if (arguments[1] == std::string("planted")) {
    run(quotient_of_zeros, flat(0), flat(0));
    run(root_of_negative, ascending(), flat(0));
    run(inverse_root_of_negative, ascending(), flat(0));
    run(fast_logarithm_of_negative, ascending(), flat(0));
    run(logarithm_of_negative, ascending(), flat(0));
    run(arc_beyond_one, flat(1), flat(0));
    run(masked_row, flat(-INFINITY), flat(-INFINITY));
    run(infinity_times_zero, flat(INFINITY), flat(0));
    run(length_of_zero, flat(0), flat(0));
    run(mean_of_none, flat(0), flat(0));
    run(nan_in_double, flat(1), flat(1));
    run(root_in_double, ascending(), flat(0));
    run(logarithm_in_double, ascending(), flat(0));
    run(nan_in_a_shuffle, flat(0), flat(0));
    run(nan_in_shared, flat(0), flat(0));
    run(nan_in_a_sum, flat(0), flat(0));
    run(quotient_by_zero, ascending(), flat(0));
    run(fast_quotient_by_zero, ascending(), flat(0));
    run(inverse_root_of_zero, ascending(), flat(0));
    run(logarithm_of_zero, ascending(), flat(0));
    run(exponential, ascending(), flat(0));
    run(fast_exponential, ascending(), flat(0));
    run(exponential_in_double, ascending(), flat(0));
    run(square, flat(1e20f), flat(1e20f));
    run(direction_of_large, flat(1e20f), flat(1e20f));
    run(root_of_halves, ascending(), flat(0));
    run(power_of_two, ascending(), flat(0));
    run(exp2_in_double, ascending(), flat(0));
    run(cosh_in_double, ascending(), flat(0));
    run(asin_in_double, ascending(), flat(0));
    run(factorial, flat(0), flat(0));
    run(half_of_large, ascending(), flat(0));
    run(sum_of_halves, ascending(), flat(0));
    run(largest_as_bfloat, flat(1), flat(0));
    run(double_as_float, ascending(), flat(0));
    run(softmax, ascending(), flat(0));
    run(large_as_integer, ascending(), flat(0));
    run(negative_as_unsigned, ascending(), flat(0));
    run(index_of_nan, flat(NAN), flat(0));
    run(power_of_negative, ascending(), flat(0));
    run(power_in_double, ascending(), flat(0));
    run(remainder_of_zero, ascending(), flat(0));
    run(gamma_of_negative, ascending(), flat(0));
    run(pole_of_gamma, ascending(), flat(0));
    run(exponent_of_zero, ascending(), flat(0));
    run(bessel_of_negative, ascending(), flat(0));
    run(error_function_of_one, ascending(), flat(0));
    run(gamma_in_double, ascending(), flat(0));
    run(length_in_double, ascending(), flat(0));
    run(bin_of_nan, flat(NAN), flat(0));
    run(printed_quotient, flat(0), flat(0));
    run(level_of_nan, flat(0), flat(0));
    run(clamped_below, ascending(), flat(0));
    run(bfloat_of_bits, flat(1), flat(0));
    run(nan_of_bits, flat(0), flat(0));
    run(maximum_of_loaded, negative(), flat(0));
    run(bound_wraps, flat(1), flat(0));
    run(index_wraps, flat(1), flat(0));
    run(maximum_drops, flat(0), flat(0));
    run(comparison_drops, flat(0), flat(0));
    run(maximum_of_bits, descending(), flat(0));
    run(large_as_byte, ascending(), flat(0));
    run(large_as_wide_byte, ascending(), flat(0));
    run(nan_as_byte, flat(0), flat(0));
    run(small_as_half, flat(1), flat(0));
  } else {
    run(quotient_of_zeros_meant, flat(0), flat(0));
    run(root_of_negative_meant, ascending(), flat(0));
    run(inverse_root_of_negative_meant, ascending(), flat(0));
    run(fast_logarithm_of_negative_meant, ascending(), flat(0));
    run(logarithm_of_negative_meant, ascending(), flat(0));
    run(arc_beyond_one_meant, flat(1), flat(0));
    run(masked_row_meant, flat(-INFINITY), flat(-INFINITY));
    run(infinity_times_zero_meant, flat(INFINITY), flat(0));
    run(length_of_zero_meant, flat(0), flat(0));
    run(mean_of_none_meant, flat(0), flat(0));
    run(nan_in_double_meant, flat(1), flat(1));
    run(root_in_double_meant, ascending(), flat(0));
    run(logarithm_in_double_meant, ascending(), flat(0));
    run(nan_in_a_shuffle_meant, flat(0), flat(0));
    run(nan_in_shared_meant, flat(0), flat(0));
    run(nan_in_a_sum_meant, flat(0), flat(0));
    run(quotient_by_zero_meant, ascending(), flat(0));
    run(fast_quotient_by_zero_meant, ascending(), flat(0));
    run(inverse_root_of_zero_meant, ascending(), flat(0));
    run(logarithm_of_zero_meant, ascending(), flat(0));
    run(exponential_meant, ascending(), flat(0));
    run(fast_exponential_meant, ascending(), flat(0));
    run(exponential_in_double_meant, ascending(), flat(0));
    run(square_meant, flat(1e20f), flat(1e20f));
    run(exp2_in_double_meant, ascending(), flat(0));
    run(cosh_in_double_meant, ascending(), flat(0));
    run(asin_in_double_meant, ascending(), flat(0));
    run(direction_of_large_meant, flat(1e20f), flat(INFINITY));
    run(root_of_halves_meant, ascending(), flat(0));
    run(power_of_two_meant, ascending(), flat(0));
    run(factorial_meant, flat(0), flat(0));
    run(half_of_large_meant, ascending(), flat(0));
    run(sum_of_halves_meant, ascending(), flat(0));
    run(largest_as_bfloat_meant, flat(1), flat(0));
    run(double_as_float_meant, ascending(), flat(0));
    run(softmax_meant, ascending(), flat(0));
    run(large_as_integer_meant, ascending(), flat(0));
    run(negative_as_unsigned_meant, ascending(), flat(0));
    run(index_of_nan_meant, flat(NAN), flat(0));
    run(power_of_negative_meant, ascending(), flat(0));
    run(power_in_double_meant, ascending(), flat(0));
    run(remainder_of_zero_meant, ascending(), flat(0));
    run(gamma_of_negative_meant, ascending(), flat(0));
    run(pole_of_gamma_meant, ascending(), flat(INFINITY));
    run(exponent_of_zero_meant, ascending(), flat(INFINITY));
    run(bessel_of_negative_meant, ascending(), flat(NAN));
    run(error_function_of_one_meant, ascending(), flat(NAN));
    run(gamma_in_double_meant, ascending(), flat(0));
    run(length_in_double_meant, ascending(), flat(0));
    run(bin_of_nan_meant, ascending(), flat(0));
    run(printed_quotient_meant, flat(0), flat(0));
    run(level_of_nan_meant, flat(0), flat(0));
    run(clamped_below_meant, ascending(), flat(0));
    run(bfloat_of_bits_meant, flat(1), flat(0));
    run(nan_of_bits_meant, flat(NAN), flat(0));
    run(maximum_of_loaded_meant, descending(), flat(0));
    run(bound_wraps_meant, flat(1), flat(0));
    run(index_wraps_meant, flat(1), flat(0));
    run(maximum_drops_meant, flat(NAN), flat(0));
    run(comparison_drops_meant, flat(NAN), flat(0));
    run(maximum_of_bits_meant, descending(), flat(0));
    run(large_as_byte_meant, ascending(), flat(0));
    run(large_as_wide_byte_meant, ascending(), flat(INFINITY));
    run(nan_as_byte_meant, ascending(), flat(NAN));
    run(small_as_half_meant, flat(1), flat(0));
    run(literals_meant, ascending(), flat(0));
    run(places_of_hashes_meant, ascending(), flat(0));
    run(functions_of_missing_meant, flat(NAN), flat(0));
    run(checksum_meant, flat(1), flat(1));
    run(greatest_of_numbers_meant, flat(0), flat(0));
    run(specials_replaced_meant, ascending(), flat(0));
    run(power_to_infinity_meant, ascending(), flat(INFINITY));
    run(missing_values_meant, flat(NAN), flat(INFINITY));
    run(greatest_of_masked_meant, ascending(), flat(-INFINITY));
  }
  std::printf("ran\n");
  return 0;
}
