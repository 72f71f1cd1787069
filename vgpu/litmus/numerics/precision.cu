// Results that rounding makes wrong, and kernels that avoid it.
#include <cuda_fp16.h>

#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::copy_out;
using warpcheck::litmus::zeroed;

namespace {

constexpr int kTerms = 4'096;

float* terms(float first, float rest) {
  std::vector<float> host(kTerms, rest);
  host[0] = first;
  float* const device = zeroed<float>(kTerms);
  cudaMemcpy(device, host.data(), sizeof(float) * kTerms, cudaMemcpyHostToDevice);
  return device;
}

void run(void (*kernel)(const float*, float*), float first, float rest, int threads = 1) {
  float* const out = zeroed<float>(kTerms);
  kernel<<<1, threads>>>(terms(first, rest), out);
  copy_out(out, kTerms);
}

}  // namespace

// The first term is so large that it swallows all others.
// expect: rounding-error note global
__global__ void sums(const float* in, float* out) {
  float sum = 0;
  for (int i = 0; i < kTerms; ++i) sum += in[i];  //~ compute
  *out = sum;
}
LITMUS(sums) { run(sums, 1e8f, 1); }

// expect: clean
LITMUS(sums_of_small_integers) { run(sums, 1, 1); }

// The same terms, compensated: the additions swallow terms as well, and make up for it.
// expect: clean
__global__ void sums_compensated(const float* in, float* out) {
  float sum = 0, lost = 0;
  for (int i = 0; i < kTerms; ++i) {
    const float term = __fsub_rn(in[i], lost);
    const float next = __fadd_rn(sum, term);
    lost = __fsub_rn(__fsub_rn(next, sum), term);
    sum = next;
  }
  *out = sum;
}
LITMUS(sums_compensated) { run(sums_compensated, 1e8f, 1); }

// The mean of the squares, less the square of the mean.
// expect: rounding-error note global
__global__ void variance(const float* in, float* out) {
  float sum = 0, squares = 0;
  for (int i = 0; i < 64; ++i) {
    sum = __fadd_rn(sum, in[i]);
    squares = __fadd_rn(squares, __fmul_rn(in[i], in[i]));  //~ compute
  }
  const float mean = sum / 64;
  *out = __fsub_rn(squares / 64, __fmul_rn(mean, mean));  //~ compute
}
LITMUS(variance) { run(variance, 1000.125f, 1000.0f); }

// expect: clean
__global__ void variance_in_two_passes(const float* in, float* out) {
  float sum = 0, squares = 0;
  for (int i = 0; i < 64; ++i) sum += in[i];
  const float mean = sum / 64;
  for (int i = 0; i < 64; ++i) squares += (in[i] - mean) * (in[i] - mean);
  *out = squares / 64;
}
LITMUS(variance_in_two_passes) { run(variance_in_two_passes, 8, 4); }

// Rounding decides a branch: ten tenths are not one.
// expect: rounding-error note
__global__ void compares(const float* in, float* out) {
  float sum = 0;
  for (int i = 0; i < 10; ++i) sum = __fadd_rn(sum, __fdiv_rn(in[i], 10));
  if (sum > 1) *out = 2;  //~ branch
}
LITMUS(compares) { run(compares, 1, 1); }

// expect: clean
__global__ void compares_with_room(const float* in, float* out) {
  float sum = 0;
  for (int i = 0; i < 10; ++i) sum = __fadd_rn(sum, __fdiv_rn(in[i], 10));
  if (sum > 1.001f) *out = 2;
}
LITMUS(compares_with_room) { run(compares_with_room, 1, 1); }

// Near 0 both sides of |x| are as good.
// expect: clean
__global__ void distances(const float* in, float* out) {
  const float x = __fsub_rn(__fadd_rn(in[threadIdx.x], 1000), 1003.3f);
  float distance = 0;
  asm("{ .reg .pred p; setp.gt.f32 p, %1, 0f00000000; selp.f32 %0, %1, %2, p; }"
      : "=f"(distance)
      : "f"(x), "f"(-x));
  out[threadIdx.x] = distance + 5000;
}
LITMUS(distances) { run(distances, 3.3f, 3.3f, 32); }

// Those of the sign are not.
// expect: rounding-error note
__global__ void signs(const float* in, float* out) {
  const float x = __fsub_rn(__fadd_rn(in[threadIdx.x], 1000), 1003.3f);
  float sign = 0;
  asm("{ .reg .pred p; setp.gt.f32 p, %1, 0f00000000; selp.f32 %0, %2, %3, p; }"
      : "=f"(sign)
      : "f"(x), "f"(1.0f), "f"(-1.0f));  //~ branch
  out[threadIdx.x] = sign;
}
LITMUS(signs) { run(signs, 3.3f, 3.3f, 32); }

// Neumaier's sum takes what is lost from the larger of two numbers.  Where rounding has exchanged
// them, either way gives it.
// expect: clean
__global__ void sums_by_larger(const float* in, float* out) {
  float sum = 0;
  for (int i = 0; i < 10; ++i) sum = __fadd_rn(sum, __fdiv_rn(in[i], 10));
  const float term = in[10], next = __fadd_rn(sum, term);
  float lost = 0;
  asm("{ .reg .pred p; setp.gt.f32 p, %1, %2; selp.f32 %0, %3, %4, p; }"
      : "=f"(lost)
      : "f"(sum), "f"(term), "f"(__fadd_rn(__fsub_rn(sum, next), term)),
        "f"(__fadd_rn(__fsub_rn(term, next), sum)));
  *out = __fadd_rn(next, lost);
}
LITMUS(sums_by_larger) { run(sums_by_larger, 1, 1); }

// A tree of additions over the lanes, through shuffles.
// expect: clean
__global__ void sums_pairwise(const float* in, float* out) {
  float sum = in[threadIdx.x] / 3;
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  out[threadIdx.x] = sum;
}
LITMUS(sums_pairwise) { run(sums_pairwise, 1, 1, 32); }

// acosf() takes the sign of its argument apart.
// expect: rounding-error note global
__global__ void arc_near_one(const float* in, float* out) {
  const float cosine = in[threadIdx.x] + 1e-7f;  //~ compute
  out[threadIdx.x] = acosf(cosine);              //~ compute
}
LITMUS(arc_near_one) { run(arc_near_one, 1 - 0x1p-12f, 1 - 0x1p-12f, 32); }

// expect: clean
LITMUS(arc_of_half) { run(arc_near_one, 0.5f, 0.25f, 32); }

// Beyond the limit the value is the limit, also if rounding has just not reached it.
// expect: clean
__global__ void limits(const float* in, float* out) {
  const float limited = fminf(in[threadIdx.x] * 1.0000001f, 1.0f);
  if (limited == 1) out[threadIdx.x] = 2;
}
LITMUS(limits) { run(limits, 0.99999994f, 0.99999994f, 32); }

// The coefficients of sinf() are exact, so its result has the errors of a result.
// expect: rounding-error note global
__global__ void sine_less(const float* in, float* out) {
  out[threadIdx.x] = sinf(in[threadIdx.x]) - 0.703125f;  //~ compute
}
LITMUS(sine_less) { run(sine_less, 0.77978515625f, 0.77978515625f, 32); }

// expect: clean
__global__ void sine_and_cosine(const float* in, float* out) {
  const float sine = sinf(in[threadIdx.x]), cosine = cosf(in[threadIdx.x]);
  out[threadIdx.x] = sine * sine + cosine * cosine;
}
LITMUS(sine_and_cosine) { run(sine_and_cosine, 0.75f, 1.25f, 32); }

// expect: rounding-error note global
__global__ void sums_pairs(const float* in, float* out) {
  const float x = in[threadIdx.x] / 3;
  atomicAdd(reinterpret_cast<__half2*>(out), __float2half2_rn(x));  //~ compute
}
LITMUS(sums_pairs) {
  float* const out = zeroed<float>(1);
  sums_pairs<<<16, 256>>>(terms(1, 1), out);
  copy_out(out, 1);
}

// expect: clean
LITMUS(sums_few_pairs) {
  float* const out = zeroed<float>(1);
  sums_pairs<<<1, 2>>>(terms(1, 1), out);
  copy_out(out, 1);
}

// The square overflows, and dividing by its infinity hides that.
// expect: rounding-error note global
__global__ void direction(const float* in, float* out) {
  const float x = in[threadIdx.x];
  const float square = __fmul_rn(x, x);  //~ compute
  out[threadIdx.x] = x * rsqrtf(square);
}
LITMUS(direction) { run(direction, 1e20f, 1e20f, 32); }

// expect: clean
LITMUS(direction_of_small) { run(direction, 3, 4, 32); }

// The infinity is meant: what it leaves is nothing beside 1.
// expect: clean
__global__ void gates(const float* in, float* out) {
  const float x = in[threadIdx.x];
  out[threadIdx.x] = x * (1 / (1 + exp2f(-x)));
}
LITMUS(gates) { run(gates, -200, -129, 32); }

// All digits cancel.
// expect: rounding-error note global
__global__ void smaller_root(const float* in, float* out) {
  const float p = in[threadIdx.x];
  const float square = __fsub_rn(__fmul_rn(p, p), 4);  //~ compute
  out[threadIdx.x] = __fsub_rn(sqrtf(square), p);      //~ compute
}
LITMUS(smaller_root) { run(smaller_root, 10'000, 10'000, 32); }

// expect: clean
__global__ void smaller_root_by_larger(const float* in, float* out) {
  const float p = in[threadIdx.x];
  out[threadIdx.x] = -4 / (p + sqrtf(__fsub_rn(__fmul_rn(p, p), 4)));
}
LITMUS(smaller_root_by_larger) { run(smaller_root_by_larger, 10'000, 10'000, 32); }

// A result that is stored byte by byte is the result.
// expect: rounding-error note global
__global__ void sums_in_bytes(const float* in, float* out) {
  float sum = 0;
  for (int i = 0; i < kTerms; ++i) sum += in[i];  //~ compute
  const unsigned bits = __float_as_uint(sum);
  for (unsigned i = 0; i < 4; ++i)
    reinterpret_cast<volatile unsigned char*>(out)[i] = static_cast<unsigned char>(bits >> 8 * i);
}
LITMUS(sums_in_bytes) { run(sums_in_bytes, 1e8f, 1); }

// expect: clean
LITMUS(sums_of_small_integers_in_bytes) { run(sums_in_bytes, 1, 1); }

// So is one whose bytes are copied one after the other.
// expect: rounding-error note global
__global__ void sums_by_copies_of_bytes(const float* in, float* out) {
  __shared__ float sum;
  sum = 0;
  for (int i = 0; i < kTerms; ++i) sum += in[i];  //~ compute
  for (unsigned i = 0; i < 4; ++i)
    reinterpret_cast<volatile char*>(out)[i] = reinterpret_cast<volatile char*>(&sum)[i];
}
LITMUS(sums_by_copies_of_bytes) { run(sums_by_copies_of_bytes, 1e8f, 1); }
