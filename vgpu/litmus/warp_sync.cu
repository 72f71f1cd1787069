// Operations for which lanes of a warp wait for each other, with masks that are right and wrong.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;

constexpr unsigned kAll = 0xffffffffu;

// expect: clean
__global__ void sums_a_warp(int* out) {
  int value = threadIdx.x;
  for (int step = 16; step > 0; step /= 2) value += __shfl_down_sync(kAll, value, step);
  if (__any_sync(kAll, value > 100)) out[threadIdx.x] = value;
}
LITMUS(sums_a_warp) { sums_a_warp<<<1, 64>>>(zeroed<int>(64)); }

// The last warp has 8 lanes only; those that never were are not waited for.
// expect: clean
__global__ void sums_a_partial_warp(int* out) {
  const unsigned votes = __ballot_sync(kAll, threadIdx.x % 2 == 0);
  __syncwarp();
  out[threadIdx.x] = __popc(votes);
}
LITMUS(sums_a_partial_warp) { sums_a_partial_warp<<<1, 40>>>(zeroed<int>(40)); }

// expect: barrier-divergence
__global__ void half_a_warp_shuffles_with_all(int* out) {
  int value = threadIdx.x;
  if (threadIdx.x < 16) {
    value = __shfl_xor_sync(kAll, value, 1);  //~ wait
  }
  __syncthreads();                            //~ wait
  out[threadIdx.x] = value;
}
LITMUS(half_a_warp_shuffles_with_all) {
  half_a_warp_shuffles_with_all<<<1, 32>>>(zeroed<int>(32));
}

// expect: clean
__global__ void half_a_warp_shuffles_with_itself(int* out) {
  int value = threadIdx.x;
  if (threadIdx.x < 16) {
    value = __shfl_xor_sync(0xffff, value, 1);
  }
  __syncthreads();
  out[threadIdx.x] = value;
}
LITMUS(half_a_warp_shuffles_with_itself) {
  half_a_warp_shuffles_with_itself<<<1, 32>>>(zeroed<int>(32));
}

// expect: barrier-divergence
__global__ void mask_without_its_lanes(int* out, unsigned mask) {
  __syncwarp(mask);                           //~ wait
  out[threadIdx.x] = 1;
}
LITMUS(mask_without_its_lanes) { mask_without_its_lanes<<<1, 32>>>(zeroed<int>(32), 0xff); }

// expect: clean
__global__ void mask_of_its_lanes(int* out, unsigned mask) {
  if ((mask >> threadIdx.x & 1) == 0) return;
  __syncwarp(mask);
  out[threadIdx.x] = 1;
}
LITMUS(mask_of_its_lanes) { mask_of_its_lanes<<<1, 32>>>(zeroed<int>(32), 0xff); }

// Lane 0 waits for the lanes that wait for what it writes afterwards.
// expect: deadlock
__global__ void meets_before_it_writes(volatile int* flag) {
  if (threadIdx.x == 0) {
    __syncwarp();                             //~ wait
    *flag = 1;
  } else {
    while (*flag == 0) {}                     //~ spin
    __syncwarp();
  }
}
LITMUS(meets_before_it_writes) { meets_before_it_writes<<<1, 32>>>(zeroed<int>(1)); }

// expect: clean
__global__ void writes_before_it_meets(volatile int* flag) {
  if (threadIdx.x == 0) {
    *flag = 1;
    __syncwarp();
  } else {
    if (*flag == 2) *flag = 3;
    __syncwarp();
  }
}
LITMUS(writes_before_it_meets) { writes_before_it_meets<<<1, 32>>>(zeroed<int>(1)); }

// expect: clean
__global__ void passes_values_on_behind_a_barrier(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  __syncwarp();
  out[threadIdx.x] = s[threadIdx.x ^ 1];
}
LITMUS(passes_values_on_behind_a_barrier) {
  passes_values_on_behind_a_barrier<<<1, 64>>>(zeroed<int>(64));
}

// A vote brings the lanes together, and orders nothing.
// expect: data-race shared independent
__global__ void passes_values_on_behind_a_vote(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;               //~ write
  if (__any_sync(kAll, threadIdx.x >= 64)) out[0] = 1;
  out[threadIdx.x] = s[threadIdx.x ^ 1];      //~ read
}
LITMUS(passes_values_on_behind_a_vote) {
  passes_values_on_behind_a_vote<<<1, 64>>>(zeroed<int>(64));
}
