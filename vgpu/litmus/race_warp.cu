// Data races between lanes of one warp: the independent warp model finds them, lockstep only those of
// lanes that execute one store.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;

// expect: data-race shared independent
__global__ void neighbour_lane_without_barrier(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;              //~ write
  out[threadIdx.x] = s[threadIdx.x ^ 1];     //~ read
}
LITMUS(neighbour_lane_without_barrier) {
  neighbour_lane_without_barrier<<<1, 32>>>(zeroed<int>(32));
}

// expect: clean
__global__ void neighbour_lane_with_barrier(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = s[threadIdx.x ^ 1];
}
LITMUS(neighbour_lane_with_barrier) { neighbour_lane_with_barrier<<<1, 32>>>(zeroed<int>(32)); }

// expect: clean
__global__ void own_element(int* out) {
  __shared__ int s[32];
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[threadIdx.x] + 1;
}
LITMUS(own_element) { own_element<<<1, 32>>>(zeroed<int>(32)); }

// Two lanes of one store meet.
// expect: data-race global
__global__ void lanes_store_to_one_place(int* out) {
  out[threadIdx.x / 2] = threadIdx.x;        //~ write
}
LITMUS(lanes_store_to_one_place) { lanes_store_to_one_place<<<1, 32>>>(zeroed<int>(16)); }

// expect: clean
__global__ void lanes_store_apart(int* out) { out[threadIdx.x * 2] = threadIdx.x; }
LITMUS(lanes_store_apart) { lanes_store_apart<<<1, 32>>>(zeroed<int>(64)); }

// Half the lanes go another way; the halves are not ordered.
// expect: data-race shared independent
__global__ void halves_of_a_branch(int* out) {
  __shared__ int s[32];
  if (threadIdx.x < 16) {
    s[threadIdx.x] = threadIdx.x;            //~ write
  } else {
    out[threadIdx.x] = s[threadIdx.x - 16];  //~ read
  }
}
LITMUS(halves_of_a_branch) { halves_of_a_branch<<<1, 32>>>(zeroed<int>(32)); }

// expect: clean
__global__ void halves_in_two_phases(int* out) {
  __shared__ int s[32];
  if (threadIdx.x < 16) s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  if (threadIdx.x >= 16) out[threadIdx.x] = s[threadIdx.x - 16];
}
LITMUS(halves_in_two_phases) { halves_in_two_phases<<<1, 32>>>(zeroed<int>(32)); }
