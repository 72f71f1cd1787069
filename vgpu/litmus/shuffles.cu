// Accesses of lanes that pass values on by shfl and vote.  Those order no memory; but a store that
// depends on another lane's load through one of them comes after that load.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;

// expect: data-race global note independent
__global__ void shift_in_place(int* a) {
  const int lane = threadIdx.x;
  int value = lane > 0 ? a[lane - 1] : 0;    //~ read
  value = __shfl_up_sync(~0u, value, 1);
  a[lane] = value;                           //~ write
}
LITMUS(shift_in_place) { shift_in_place<<<1, 32>>>(zeroed<int>(32)); }

// The same in a program that orders threads by fences, too.
// expect: data-race global note independent
__global__ void shift_in_place_and_fence(int* a) {
  const int lane = threadIdx.x;
  int value = lane > 0 ? a[lane - 1] : 0;    //~ read
  value = __shfl_up_sync(~0u, value, 1);
  a[lane] = value;                           //~ write
  __threadfence();
}
LITMUS(shift_in_place_and_fence) { shift_in_place_and_fence<<<1, 32>>>(zeroed<int>(32)); }

// Lanes that are elsewhere in the loop than others: each has loaded before it shuffles.
// expect: data-race global note independent
__global__ void shift_rows_in_place(int* a) {
  const int lane = threadIdx.x;
#pragma unroll 1
  for (int row = 0; row < 4; ++row) {
    int value = lane > 0 ? a[32 * row + lane - 1] : 0;  //~ read
    value = __shfl_up_sync(~0u, value, 1);
    a[32 * row + lane] = value;                         //~ write
  }
}
LITMUS(shift_rows_in_place) { shift_rows_in_place<<<1, 32>>>(zeroed<int>(128)); }

// In a loop, the store of one round and the loads of the next are ordered by nothing.
// expect: data-race global independent
// expect: data-race global note independent
__global__ void shift_in_place_twice(int* a) {
  const int lane = threadIdx.x;
  for (int round = 0; round < 2; ++round) {
    int value = lane > 0 ? a[lane - 1] : 0;  //~ read
    value = __shfl_up_sync(~0u, value, 1);
    a[lane] = value;                         //~ write
  }
}
LITMUS(shift_in_place_twice) { shift_in_place_twice<<<1, 32>>>(zeroed<int>(32)); }

// The loads of each round are of its own part.
// expect: data-race shared note independent
__global__ void shift_parts_in_place(int* out) {
  __shared__ int a[128];
  const int lane = threadIdx.x;
  for (int i = lane; i < 128; i += 32) a[i] = i;
  __syncthreads();
  for (int begin = 0; begin < 128; begin += 32) {
    int value = lane > 0 ? a[begin + lane - 1] : 0;    //~ read
    value = __shfl_up_sync(~0u, value, 1);
    a[begin + lane] = value;                           //~ write
  }
  __syncthreads();
  out[lane] = a[lane];
}
LITMUS(shift_parts_in_place) { shift_parts_in_place<<<1, 32>>>(zeroed<int>(32)); }

// All lanes have loaded before any of them knows the sum.
// expect: data-race shared note independent
__global__ void sum_in_place(int* out) {
  __shared__ int a[256];
  const int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) a[i] = i;
  __syncthreads();
  int sum = 0;
#pragma unroll 1
  for (int i = 0; i < 8; ++i) sum += a[8 * lane + i];  //~ read
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_xor_sync(~0u, sum, offset);
  a[lane] = sum;                                       //~ write
  __syncthreads();
  out[lane] = a[lane];
}
LITMUS(sum_in_place) { sum_in_place<<<1, 32>>>(zeroed<int>(32)); }

// What the vote says is stored.
// expect: data-race shared note independent
__global__ void store_if_all_agree(int* out) {
  __shared__ int a[33];
  const int lane = threadIdx.x;
  a[lane] = 1;
  if (lane == 0) a[32] = 1;
  __syncthreads();
  const int all = __all_sync(~0u, a[lane + 1] == 1);   //~ read
  a[lane] = 3 - all;                                   //~ write
  __syncthreads();
  out[lane] = a[lane];
}
LITMUS(store_if_all_agree) { store_if_all_agree<<<1, 32>>>(zeroed<int>(32)); }

// The other lane's load does not go into the shuffle.
// expect: data-race shared independent
__global__ void shuffles_something_else(int* out) {
  __shared__ int a[33];
  const int lane = threadIdx.x;
  a[lane] = lane;
  if (lane == 0) a[32] = 32;
  __syncthreads();
  const int value = a[lane + 1];                       //~ read
  const int other = __shfl_up_sync(~0u, lane, 1);
  a[lane] = other;                                     //~ write
  out[lane] = value;
}
LITMUS(shuffles_something_else) { shuffles_something_else<<<1, 32>>>(zeroed<int>(32)); }

// What is stored does not come from the shuffle.
// expect: data-race shared independent
__global__ void stores_something_else(int* out) {
  __shared__ int a[33];
  const int lane = threadIdx.x;
  a[lane] = lane;
  if (lane == 0) a[32] = 32;
  __syncthreads();
  const int value = a[lane + 1];                       //~ read
  out[lane] = __shfl_up_sync(~0u, value, 1);
  a[lane] = lane + 1;                                  //~ write
}
LITMUS(stores_something_else) { stores_something_else<<<1, 32>>>(zeroed<int>(32)); }

// Each half of the warp shuffles by itself, and loads from the other half.
// expect: data-race shared independent
// expect: data-race shared note independent
__global__ void halves_shuffle_apart(int* out) {
  __shared__ int a[33];
  const int lane = threadIdx.x;
  a[lane] = lane;
  if (lane == 0) a[32] = 32;
  __syncthreads();
  int value = a[lane + 1];                             //~ read
  const unsigned half = lane < 16 ? 0xffffu : 0xffff0000u;
  value = __shfl_up_sync(half, value, 1, 16);
  a[lane] = value;                                     //~ write
  __syncthreads();
  out[lane] = a[lane];
}
LITMUS(halves_shuffle_apart) { halves_shuffle_apart<<<1, 32>>>(zeroed<int>(32)); }

// A store that a shuffle alone separates from a later load.
// expect: data-race shared independent
__global__ void load_after_a_shuffle(int* out) {
  __shared__ int a[32];
  const int lane = threadIdx.x;
  a[lane] = lane;                                      //~ write
  const int next = __shfl_down_sync(~0u, lane, 1);
  out[lane] = a[next % 32];                            //~ read
}
LITMUS(load_after_a_shuffle) { load_after_a_shuffle<<<1, 32>>>(zeroed<int>(32)); }

// Another warp takes no part in the shuffle: its loads race, whatever was loaded since.
// expect: data-race shared
// expect: data-race shared note independent
__global__ void two_warps_shift_one_array(int* out) {
  __shared__ int a[33];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) a[lane] = lane;
  if (threadIdx.x == 32) a[32] = 32;
  __syncthreads();
  int value = a[lane + 1];                             //~ read
  value = __shfl_up_sync(~0u, value, 1);
  if (threadIdx.x < 32) a[lane] = value;               //~ write
  out[threadIdx.x] = value;
}
LITMUS(two_warps_shift_one_array) { two_warps_shift_one_array<<<1, 64>>>(zeroed<int>(64)); }

// expect: clean
__global__ void shift_with_syncwarp(int* a) {
  const int lane = threadIdx.x;
  const int value = lane > 0 ? a[lane - 1] : 0;
  __syncwarp();
  a[lane] = value;
}
LITMUS(shift_with_syncwarp) { shift_with_syncwarp<<<1, 32>>>(zeroed<int>(32)); }

// One lane acquires, and tells the others by a shuffle to go on.
// expect: data-race shared note independent
__global__ void acquired_by_one_lane(int* out) {
  __shared__ int data;
  __shared__ volatile int flag;
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    data = blockDim.x;                                 //~ write
    __threadfence_block();
    flag = 1;
  } else if (threadIdx.x < 32) {
    int seen = 0;
    if (lane == 0) {
      while (flag == 0) {
      }
      __threadfence_block();
      seen = 1;
    }
    seen = __shfl_sync(~0u, seen, 0);
    if (seen != 0) out[lane] = data;                   //~ read
  }
}
LITMUS(acquired_by_one_lane) { acquired_by_one_lane<<<1, 64>>>(zeroed<int>(32)); }

// What they load does not depend on what they are told.
// expect: data-race shared independent
__global__ void acquired_by_one_lane_alone(int* out) {
  __shared__ int data;
  __shared__ volatile int flag;
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    data = blockDim.x;                                 //~ write
    __threadfence_block();
    flag = 1;
  } else if (threadIdx.x < 32) {
    int seen = 0;
    if (lane == 0) {
      while (flag == 0) {
      }
      __threadfence_block();
      seen = 1;
    }
    seen = __shfl_sync(~0u, seen, 0);
    out[lane] = data + seen;                           //~ read
  }
}
LITMUS(acquired_by_one_lane_alone) { acquired_by_one_lane_alone<<<1, 64>>>(zeroed<int>(32)); }

// The same of what it stores.
// expect: data-race shared note independent
__global__ void stored_by_another_lane(int* out) {
  __shared__ int data;
  __shared__ volatile int flag;
  const int lane = threadIdx.x % 32;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 32) {
    data = blockDim.x;                                 //~ write
    __threadfence_block();
    flag = 1;
  } else if (threadIdx.x < 32) {
    int seen = 0;
    if (lane == 0) {
      while (flag == 0) {
      }
      __threadfence_block();
      seen = 1;
    }
    seen = __shfl_sync(~0u, seen, 0);
    if (seen != 0 && lane == 1) data = gridDim.x;      //~ write
  }
  __syncthreads();
  if (threadIdx.x == 0) *out = data;
}
LITMUS(stored_by_another_lane) { stored_by_another_lane<<<1, 64>>>(zeroed<int>(1)); }
