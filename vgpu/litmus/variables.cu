// Variables without an initial value, which the compiler keeps in registers.
#include <cuda_fp16.h>

#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::copy_out;
using warpcheck::litmus::zeroed;

// expect: uninitialized-read global
__global__ void sums_from_nothing(const float* in, float* out, int n) {
  float sum;
  for (int i = 0; i < n; ++i) sum += in[i];  //~ read
  out[threadIdx.x] = sum;
}
LITMUS(sums_from_nothing) {                  //~ host copy
  float* const out = zeroed<float>(32);
  sums_from_nothing<<<1, 32>>>(zeroed<float>(8), out, 8);
  copy_out(out, 32);
}

// expect: clean
__global__ void sums_from_zero(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = 0; i < n; ++i) sum += in[i];
  out[threadIdx.x] = sum;
}
LITMUS(sums_from_zero) {
  float* const out = zeroed<float>(32);
  sums_from_zero<<<1, 32>>>(zeroed<float>(8), out, 8);
  copy_out(out, 32);
}

// The optimiser knows what an undefined value is compared with, and compares nothing.
// expect: uninitialized-read unoptimized
__global__ void branches_on_nothing(int* out, int n) {
  int found;
  if (static_cast<int>(threadIdx.x) < n) found = n;
  if (found > 3) {                           //~ read //~ branch
    for (int i = 0; i < n; ++i) out[i * 32 + threadIdx.x] = i;
  }
}
LITMUS(branches_on_nothing) { branches_on_nothing<<<1, 32>>>(zeroed<int>(192), 5); }

// The other lanes have no number, and need none.
// expect: clean
__global__ void knows_whether_it_has_found(const int* in, int* out, int n) {
  int place;
  bool has_found = false;
  for (int i = 0; i < n; ++i) {
    if (in[i] == static_cast<int>(threadIdx.x)) {
      place = i;
      has_found = true;
    }
  }
  if (has_found && place > 2) out[place] = in[place] + place;
  out[32 + threadIdx.x] = has_found ? place : -1;
}
LITMUS(knows_whether_it_has_found) {
  int* const out = zeroed<int>(64);
  knows_whether_it_has_found<<<1, 32>>>(zeroed<int>(8), out, 8);
  copy_out(out, 64);
}

// Only the first lane knows the total, and gives it to the others.
// expect: clean
__global__ void broadcasts_the_total(const int* in, int* out) {
  int total;
  if (threadIdx.x == 0) {
    total = in[0] + in[1];
    out[32] = total;
  }
  total = __shfl_sync(~0u, total, 0);
  if (total != 7) out[threadIdx.x] = total;
}
LITMUS(broadcasts_the_total) {
  int* const out = zeroed<int>(33);
  broadcasts_the_total<<<1, 32>>>(zeroed<int>(2), out);
  copy_out(out, 33);
}

// expect: uninitialized-read
__global__ void broadcasts_nothing(const int* in, int* out) {
  int total;
  if (threadIdx.x == 0) total = in[0] + in[1];
  total = __shfl_sync(~0u, total, 1);        //~ read
  if (total != 7) out[threadIdx.x] = in[0];  //~ branch
}
LITMUS(broadcasts_nothing) {
  int* const out = zeroed<int>(33);
  broadcasts_nothing<<<1, 32>>>(zeroed<int>(2), out);
  copy_out(out, 33);
}

// Each call has variables of its own.
// expect: uninitialized-read global
__device__ __noinline__ float sum_of_callee(const float* in, int n) {
  float sum;
  for (int i = 0; i < n; ++i) sum += in[i];  //~ read
  return sum;
}
__global__ void calls_what_sums_from_nothing(const float* in, float* out, int n) {
  if (n > 0) out[threadIdx.x] = sum_of_callee(in, n);
}
LITMUS(calls_what_sums_from_nothing) {       //~ host copy
  float* const out = zeroed<float>(32);
  calls_what_sums_from_nothing<<<1, 32>>>(zeroed<float>(8), out, 8);
  copy_out(out, 32);
}

struct Padded {
  char tag;
  int value;
};
__device__ __noinline__ int value_of(Padded padded) { return padded.value + padded.tag; }

// Padding is passed as registers that nothing has written.
// expect: clean
__global__ void passes_padding(int* out, int n) {
  Padded padded;
  padded.tag = 1;
  padded.value = n;
  out[threadIdx.x] = value_of(padded);
}
LITMUS(passes_padding) {
  int* const out = zeroed<int>(32);
  passes_padding<<<1, 32>>>(out, 5);
  copy_out(out, 32);
}

// One half of a pair is used.
// expect: clean
__global__ void uses_one_half(const float* in, float* out) {
  __half2 pair;
  pair.x = __float2half(in[threadIdx.x]);
  pair = __hadd2(pair, pair);
  out[threadIdx.x] = __low2float(pair);
}
LITMUS(uses_one_half) {
  float* const out = zeroed<float>(32);
  uses_one_half<<<1, 32>>>(zeroed<float>(32), out);
  copy_out(out, 32);
}

// What the first rows have computed is what they store.
// expect: clean
__global__ void keeps_what_few_threads_need(const int* in, int* out, int few) {
  int before[4];
  int sum = 0;
  if (static_cast<int>(threadIdx.x) < few) {
#pragma unroll
    for (int i = 0; i < 4; ++i) sum += before[i] = in[i];
  }
  __syncthreads();
  if (static_cast<int>(threadIdx.x) < few) {
#pragma unroll
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = before[i] + sum;
  }
}
LITMUS(keeps_what_few_threads_need) {
  int* const out = zeroed<int>(256);
  keeps_what_few_threads_need<<<1, 64>>>(zeroed<int>(4), out, 40);
  copy_out(out, 256);
}
