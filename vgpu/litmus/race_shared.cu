// Data races in shared memory between warps of a block.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;

// Thread 31 writes what thread 63 reads, and so on: nothing orders the two warps.
// expect: data-race shared
__global__ void other_warp_without_barrier(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;              //~ write
  out[threadIdx.x] = s[threadIdx.x ^ 32];    //~ read
}
LITMUS(other_warp_without_barrier) { other_warp_without_barrier<<<1, 64>>>(zeroed<int>(64)); }

// expect: clean
__global__ void other_warp_with_barrier(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 32];
}
LITMUS(other_warp_with_barrier) { other_warp_with_barrier<<<1, 64>>>(zeroed<int>(64)); }

// One barrier a round: a fast warp writes round k + 1 while a slow one still reads round k.
// expect: data-race shared
__global__ void one_barrier_a_round(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < 3; ++round) {
    sum += s[threadIdx.x ^ 32];              //~ read
    s[threadIdx.x] = sum;                    //~ write
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
LITMUS(one_barrier_a_round) { one_barrier_a_round<<<1, 64>>>(zeroed<int>(64)); }

// expect: clean
__global__ void two_barriers_a_round(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int sum = 0;
  for (int round = 0; round < 3; ++round) {
    sum += s[threadIdx.x ^ 32];
    __syncthreads();
    s[threadIdx.x] = sum;
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}
LITMUS(two_barriers_a_round) { two_barriers_a_round<<<1, 64>>>(zeroed<int>(64)); }

// All threads that find something store the same flag: a race by the letter, and no harm.
// expect: data-race shared note
__global__ void all_store_the_same(const int* in, int* out) {
  __shared__ int found;
  if (threadIdx.x == 0) found = 0;
  __syncthreads();
  if (in[threadIdx.x] == 0) found = 1;       //~ write
  __syncthreads();
  out[threadIdx.x] = found;
}
LITMUS(all_store_the_same) { all_store_the_same<<<1, 64>>>(zeroed<int>(64), zeroed<int>(64)); }

// expect: data-race shared
__global__ void all_store_their_own(int* out) {
  __shared__ int found;
  found = threadIdx.x;                       //~ write
  __syncthreads();
  out[threadIdx.x] = found;
}
LITMUS(all_store_their_own) { all_store_their_own<<<1, 64>>>(zeroed<int>(64)); }

// expect: clean
__global__ void one_stores(int* out) {
  __shared__ int found;
  if (threadIdx.x == 40) found = 1;
  __syncthreads();
  out[threadIdx.x] = found;
}
LITMUS(one_stores) { one_stores<<<1, 64>>>(zeroed<int>(64)); }

// A reader beside a writer is an error even though the value does not change.
// expect: data-race shared
__global__ void read_beside_equal_write(const int* in, int* out) {
  __shared__ int s;
  if (threadIdx.x == 0) s = in[0];
  __syncthreads();
  if (threadIdx.x == 0) s = in[1];           //~ write
  if (threadIdx.x == 32) *out = s;           //~ read
}
LITMUS(read_beside_equal_write) {
  read_beside_equal_write<<<1, 64>>>(zeroed<int>(2), zeroed<int>(1));
}

// Bytes of one word belong to different threads.
// expect: clean
__global__ void neighbouring_bytes(int* out) {
  __shared__ unsigned char s[64];
  s[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 33];
}
LITMUS(neighbouring_bytes) { neighbouring_bytes<<<1, 64>>>(zeroed<int>(64)); }

// expect: data-race shared
__global__ void overlapping_bytes(int* out) {
  __shared__ unsigned char s[128];
  s[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);                 //~ write
  s[threadIdx.x + 32] = static_cast<unsigned char>(threadIdx.x);            //~ write
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x];
}
LITMUS(overlapping_bytes) { overlapping_bytes<<<1, 64>>>(zeroed<int>(64)); }

// More blocks than can be resident: each has shared memory of its own.
// expect: clean
__global__ void many_blocks(int* out) {
  extern __shared__ int s[];
  s[threadIdx.x] = blockIdx.x;
  __syncthreads();
  out[blockIdx.x * 64 + threadIdx.x] = s[threadIdx.x ^ 63];
}
LITMUS(many_blocks) { many_blocks<<<100, 64, 64 * sizeof(int)>>>(zeroed<int>(6400)); }
