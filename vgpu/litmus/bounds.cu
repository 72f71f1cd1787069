// Addresses outside every allocation, and misaligned ones.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::copy_out;
using warpcheck::litmus::unwritten;
using warpcheck::litmus::zeroed;

// expect: out-of-bounds global
__global__ void reads_past_the_end(const int* in, int* out) {
  out[threadIdx.x] = in[threadIdx.x + 1];    //~ read
}
LITMUS(reads_past_the_end) { reads_past_the_end<<<1, 32>>>(zeroed<int>(32), zeroed<int>(32)); }

// expect: clean
__global__ void guards_the_end(const int* in, int* out, int n) {
  if (threadIdx.x + 1 < n) out[threadIdx.x] = in[threadIdx.x + 1];
}
LITMUS(guards_the_end) { guards_the_end<<<1, 32>>>(zeroed<int>(32), zeroed<int>(32), 32); }

// expect: out-of-bounds global
__global__ void writes_before_the_beginning(int* out) {
  out[static_cast<int>(threadIdx.x) - 1] = 1;  //~ write
}
LITMUS(writes_before_the_beginning) { writes_before_the_beginning<<<1, 32>>>(zeroed<int>(32)); }

// A stray index does not hit the neighbouring allocation unnoticed.
// expect: out-of-bounds global
__global__ void between_allocations(int* first) {
  first[32] = 1;                             //~ write
}
LITMUS(between_allocations) {
  int* const first = zeroed<int>(32);
  zeroed<int>(32);
  between_allocations<<<1, 1>>>(first);
}

// Launched with less shared memory than it uses.
// expect: out-of-bounds shared
__global__ void too_little_shared_memory(int* out) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;                        //~ write
  out[threadIdx.x] = 1;
}
LITMUS(too_little_shared_memory) {
  too_little_shared_memory<<<1, 64, 63 * sizeof(int)>>>(zeroed<int>(64));
}

// expect: clean
__global__ void enough_shared_memory(int* out) {
  extern __shared__ int s[];
  s[threadIdx.x] = 1;
  out[threadIdx.x] = s[threadIdx.x];
}
LITMUS(enough_shared_memory) {
  enough_shared_memory<<<1, 64, 64 * sizeof(int)>>>(zeroed<int>(64));
}

// expect: out-of-bounds local
__global__ void local_array_overrun(int* out, int index) {
  int values[4] = {1, 2, 3, 4};
  values[index & 3] = 5;
  out[threadIdx.x] = values[index];          //~ read
}
LITMUS(local_array_overrun) { local_array_overrun<<<1, 32>>>(zeroed<int>(32), 1000); }

// expect: clean
__global__ void local_array(int* out, int index) {
  int values[4] = {1, 2, 3, 4};
  values[index & 3] = 5;
  out[threadIdx.x] = values[index];
}
LITMUS(local_array) { local_array<<<1, 32>>>(zeroed<int>(32), 3); }

// By one element, in a frame whose size is no multiple of 16; behind it are the callee's variables.
// expect: out-of-bounds local
__device__ __noinline__ int digits_of(int number) {
  int digits[3] = {};
  for (int i = 0; i < 3; ++i, number /= 10) digits[(number ^ i) % 3] = number % 10;
  return digits[number % 3];
}

__device__ __noinline__ void count_into(int* values, int count) {
  for (int i = 0; i < count; ++i) values[i] = i;  //~ write
}

__device__ int sum_of_counted(int count) {
  int values[5];
  count_into(values, count);
  int sum = 0;
  for (int i = 0; i < 5; ++i) sum += values[i * count % 5];
  return sum + digits_of(sum);
}

__global__ void local_array_overrun_by_one(int* out, int count) {
  out[threadIdx.x] = sum_of_counted(count);
}
LITMUS(local_array_overrun_by_one) { local_array_overrun_by_one<<<1, 32>>>(zeroed<int>(32), 6); }

// expect: clean
__global__ void local_array_filled(int* out, int count) {
  out[threadIdx.x] = sum_of_counted(count);
}
LITMUS(local_array_filled) { local_array_filled<<<1, 32>>>(zeroed<int>(32), 5); }

__constant__ int constants[4] = {1, 2, 3, 4};

// expect: out-of-bounds constant
__global__ void constant_table_overrun(int* out, int index) {
  out[threadIdx.x] = constants[index];           //~ read
}
LITMUS(constant_table_overrun) { constant_table_overrun<<<1, 32>>>(zeroed<int>(32), 4); }

// expect: clean
__global__ void constant_table(int* out, int index) { out[threadIdx.x] = constants[index]; }
LITMUS(constant_table) { constant_table<<<1, 32>>>(zeroed<int>(32), 3); }

// expect: misaligned-access global
__global__ void half_word_address(const char* in, int* out) {
  *out = *reinterpret_cast<const int*>(in + 2);  //~ read
}
LITMUS(half_word_address) { half_word_address<<<1, 1>>>(zeroed<char>(64), zeroed<int>(1)); }

// expect: clean
__global__ void word_address(const char* in, int* out) {
  *out = *reinterpret_cast<const int*>(in + 4);
}
LITMUS(word_address) { word_address<<<1, 1>>>(zeroed<char>(64), zeroed<int>(1)); }

// expect: out-of-bounds global
LITMUS(host_copies_past_the_end) {           //~ host copy
  copy_out(zeroed<int>(32), 33);
}

// expect: out-of-bounds global
LITMUS(host_fills_past_the_end) {            //~ host write
  cudaMemset(unwritten<int>(32), 0, 129);
}

// expect: clean
LITMUS(host_copies_all) { copy_out(zeroed<int>(32), 32); }
