// Barriers that not all threads of a block reach, launches that do not end, and traps.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;

// Barriers wait for threads that have not exited (programming guide, synchronization functions).
// expect: clean
__global__ void exits_before_the_barrier(int* out, int n) {
  if (threadIdx.x >= n) return;
  out[threadIdx.x] = 1;
  __syncthreads();
  out[threadIdx.x] += 1;
}
LITMUS(exits_before_the_barrier) { exits_before_the_barrier<<<1, 64>>>(zeroed<int>(64), 40); }

// expect: clean
__global__ void warps_exit_before_the_barrier(int* out, int n) {
  if (threadIdx.x >= n) return;
  out[threadIdx.x] = __syncthreads_count(threadIdx.x % 2);
}
LITMUS(warps_exit_before_the_barrier) {
  warps_exit_before_the_barrier<<<1, 128>>>(zeroed<int>(128), 64);
}

// The barrier orders the threads that are left.
// expect: clean
__global__ void threads_exit_one_by_one(int* out) {
  __shared__ int s[64];
  for (int left = 64; left > 0; --left) {
    if (threadIdx.x >= left) return;
    s[threadIdx.x] = left;
    __syncthreads();
    out[threadIdx.x] += s[left - 1 - threadIdx.x];
    __syncthreads();
  }
}
LITMUS(threads_exit_one_by_one) { threads_exit_one_by_one<<<1, 64>>>(zeroed<int>(64)); }

// Some have exited, but those that are left wait at two barriers.
// expect: barrier-divergence
__global__ void different_barriers_of_those_left(int* out) {
  if (threadIdx.x >= 96) return;
  if (threadIdx.x < 32) {
    out[threadIdx.x] = 1;
    __syncthreads();                         //~ wait
    out[threadIdx.x] = 2;
  } else {
    __syncthreads();                         //~ wait
    out[threadIdx.x] = 3;
  }
}
LITMUS(different_barriers_of_those_left) {
  different_barriers_of_those_left<<<1, 128>>>(zeroed<int>(128));
}

// expect: clean
__global__ void exits_after_the_barrier(int* out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x >= n) return;
  out[threadIdx.x] += 1;
}
LITMUS(exits_after_the_barrier) { exits_after_the_barrier<<<1, 64>>>(zeroed<int>(64), 40); }

// expect: clean
__global__ void uniform_branch(int* out, int flag) {
  if (flag != 0) {
    out[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = 2;
  } else {
    __syncthreads();
    out[threadIdx.x] = 3;
  }
}
LITMUS(uniform_branch) { uniform_branch<<<1, 64>>>(zeroed<int>(64), 0); }

// expect: deadlock
__global__ void waits_for_nobody(volatile int* flag) {
  while (*flag == 0) {}                      //~ spin
}
LITMUS(waits_for_nobody) { waits_for_nobody<<<1, 32>>>(zeroed<int>(1)); }

// expect: clean
__global__ void waits_for_the_other_warp(volatile int* flag) {
  if (threadIdx.x == 32) *flag = 1;
  if (threadIdx.x == 0) {
    while (*flag == 0) {}
  }
}
LITMUS(waits_for_the_other_warp) { waits_for_the_other_warp<<<1, 64>>>(zeroed<int>(1)); }

// expect: trap
__global__ void traps(int n) {
  if (threadIdx.x == n) __trap();            //~ trap
}
LITMUS(traps) { traps<<<1, 32>>>(3); }

// expect: clean
__global__ void does_not_trap(int n) {
  if (threadIdx.x == n) __trap();
}
LITMUS(does_not_trap) { does_not_trap<<<1, 32>>>(99); }
