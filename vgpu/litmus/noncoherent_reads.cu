// Loads that need not see what the same launch has written: __ldg(), and loads through pointers
// that are const and __restrict__ (ld.global.nc).
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::copy_out;
using warpcheck::litmus::unwritten;
using warpcheck::litmus::zeroed;

// expect: data-race global
__global__ void reads_own_write(int* data, int* out) {
  data[threadIdx.x] = 1;                         //~ write
  out[threadIdx.x] = __ldg(&data[threadIdx.x]);  //~ read
}
LITMUS(reads_own_write) {
  int* const out = unwritten<int>(64);
  reads_own_write<<<1, 64>>>(zeroed<int>(64), out);
  copy_out(out, 64);
}

// expect: clean
__global__ void reads_own_write_coherently(int* data, int* out) {
  data[threadIdx.x] = 1;
  out[threadIdx.x] = data[threadIdx.x];
}
LITMUS(reads_own_write_coherently) {
  int* const out = unwritten<int>(64);
  reads_own_write_coherently<<<1, 64>>>(zeroed<int>(64), out);
  copy_out(out, 64);
}

// expect: data-race global
__global__ void reads_after_barrier(int* data, int* out) {
  data[threadIdx.x] = 1;  //~ write
  __syncthreads();
  out[threadIdx.x] = __ldg(&data[63 - threadIdx.x]);  //~ read
}
LITMUS(reads_after_barrier) {
  int* const out = unwritten<int>(64);
  reads_after_barrier<<<1, 64>>>(zeroed<int>(64), out);
  copy_out(out, 64);
}

// What is a race besides is reported once.
// expect: data-race global
__global__ void reads_without_barrier(int* data, int* out) {
  data[threadIdx.x] = 1;                              //~ write
  out[threadIdx.x] = __ldg(&data[63 - threadIdx.x]);  //~ read
}
LITMUS(reads_without_barrier) {
  int* const out = unwritten<int>(64);
  reads_without_barrier<<<1, 64>>>(zeroed<int>(64), out);
  copy_out(out, 64);
}

// The compiler may keep what it has stored, but not across the barrier.
// expect: data-race global optimized
__global__ void reads_through_an_alias(int* sums, const int* __restrict__ source, int* out) {
  sums[threadIdx.x] = static_cast<int>(threadIdx.x);  //~ write
  __syncthreads();
  out[threadIdx.x] = source[63 - threadIdx.x];  //~ read
}
LITMUS(reads_through_an_alias) {
  int* const data = zeroed<int>(64);
  int* const out = unwritten<int>(64);
  reads_through_an_alias<<<1, 64>>>(data, data, out);
  copy_out(out, 64);
}

// expect: clean
LITMUS(reads_through_no_alias) {
  int* const out = unwritten<int>(64);
  reads_through_an_alias<<<1, 64>>>(zeroed<int>(64), zeroed<int>(64), out);
  copy_out(out, 64);
}

// expect: clean
__global__ void reads_before_it_writes(int* data) {
  const int before = __ldg(&data[threadIdx.x ^ 1]);
  __syncthreads();
  data[threadIdx.x] = before + 1;
}
LITMUS(reads_before_it_writes) {
  int* const data = unwritten<int>(64);
  cudaMemset(data, 0, 64 * sizeof(int));
  reads_before_it_writes<<<1, 64>>>(data);
  reads_before_it_writes<<<1, 64>>>(data);
  copy_out(data, 64);
}

// expect: data-race global
__global__ void reads_in_the_next_round(int* data) {
  for (int round = 0; round < 2; ++round) {
    const int before = __ldg(&data[threadIdx.x ^ 1]);  //~ read
    __syncthreads();
    data[threadIdx.x] = before + 1;  //~ write
    __syncthreads();
  }
}
LITMUS(reads_in_the_next_round) {
  int* const data = zeroed<int>(64);
  reads_in_the_next_round<<<1, 64>>>(data);
  copy_out(data, 64);
}

// expect: data-race global
__global__ void reads_what_was_counted(int* count, int* out) {
  atomicAdd(count, 1);  //~ atomic
  __syncthreads();
  out[threadIdx.x] = __ldg(count);  //~ read
}
LITMUS(reads_what_was_counted) {
  int* const out = unwritten<int>(64);
  reads_what_was_counted<<<1, 64>>>(zeroed<int>(1), out);
  copy_out(out, 64);
}

// expect: data-race global
__global__ void reads_a_vector(float4* data, float4* out) {
  reinterpret_cast<float*>(data)[4 * threadIdx.x + 2] = 1;  //~ write
  out[threadIdx.x] = __ldg(&data[threadIdx.x]);             //~ read
}
LITMUS(reads_a_vector) {
  float4* const out = unwritten<float4>(32);
  reads_a_vector<<<1, 32>>>(zeroed<float4>(32), out);
  copy_out(out, 32);
}

// expect: data-race global
__global__ void reads_the_byte_that_is_written(unsigned char* bytes, unsigned char* out) {
  bytes[2 * threadIdx.x] = 1;  //~ write
  __syncwarp();
  out[threadIdx.x] = __ldg(&bytes[62 - 2 * threadIdx.x]);  //~ read
}
LITMUS(reads_the_byte_that_is_written) {
  unsigned char* const out = unwritten<unsigned char>(32);
  reads_the_byte_that_is_written<<<1, 32>>>(zeroed<unsigned char>(64), out);
  copy_out(out, 32);
}

// expect: clean
__global__ void reads_the_byte_beside(unsigned char* bytes, unsigned char* out) {
  bytes[2 * threadIdx.x] = 1;
  __syncwarp();
  out[threadIdx.x] = __ldg(&bytes[2 * threadIdx.x + 1]);
}
LITMUS(reads_the_byte_beside) {
  unsigned char* const out = unwritten<unsigned char>(32);
  reads_the_byte_beside<<<1, 32>>>(zeroed<unsigned char>(64), out);
  copy_out(out, 32);
}

// The other half of the same memory.
// expect: clean
__global__ void reads_one_half(int* data) {
  data[blockDim.x + threadIdx.x] = __ldg(&data[threadIdx.x]) + 1;
  __syncthreads();
  data[blockDim.x + threadIdx.x] = __ldg(&data[threadIdx.x ^ 1]) + 1;
}
LITMUS(reads_one_half) {
  int* const data = zeroed<int>(128);
  reads_one_half<<<1, 64>>>(data);
  copy_out(data, 128);
}
