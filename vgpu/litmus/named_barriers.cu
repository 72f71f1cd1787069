// Barriers with numbers and thread counts, and arrivals that do not wait.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;

// Macros, so that a barrier is at the line that names it.
#define WAIT_AT(number, threads) \
  asm volatile("barrier.sync %0, %1;" ::"r"(number), "r"(threads) : "memory")
#define ARRIVE_AT(number, threads) \
  asm volatile("barrier.arrive %0, %1;" ::"r"(number), "r"(threads) : "memory")

// expect: clean
__global__ void pairs_of_warps(int* out) {
  out[threadIdx.x] = 1;
  WAIT_AT(1 + threadIdx.x / 64, 64);
  out[threadIdx.x] = 2;
}
LITMUS(pairs_of_warps) { pairs_of_warps<<<1, 128>>>(zeroed<int>(128)); }

// Half of the arrivals that the barrier is for never come.
// expect: deadlock
__global__ void waits_for_a_warp_that_never_arrives(int* out) {
  if (threadIdx.x < 32) WAIT_AT(1, 64);       //~ wait
  out[threadIdx.x] = 1;
}                                             //~ exit
LITMUS(waits_for_a_warp_that_never_arrives) {
  waits_for_a_warp_that_never_arrives<<<1, 64>>>(zeroed<int>(64));
}

// A count is of arrivals: threads that have exited do not arrive.
// expect: deadlock
__global__ void counts_a_warp_that_has_exited(int* out) {
  if (threadIdx.x >= 64) return;
  WAIT_AT(1, 96);                             //~ wait
  out[threadIdx.x] = 1;
}                                             //~ exit
LITMUS(counts_a_warp_that_has_exited) {
  counts_a_warp_that_has_exited<<<1, 96>>>(zeroed<int>(96));
}

// expect: clean
__global__ void numbered_barrier_of_those_left(int* out) {
  if (threadIdx.x >= 40) return;
  asm volatile("barrier.sync 3;" ::: "memory");
  out[threadIdx.x] = 1;
}
LITMUS(numbered_barrier_of_those_left) {
  numbered_barrier_of_those_left<<<1, 96>>>(zeroed<int>(96));
}

// expect: clean
__global__ void waits_for_a_warp_that_arrives(int* out) {
  if (threadIdx.x < 32) {
    WAIT_AT(1, 64);
  } else {
    ARRIVE_AT(1, 64);
  }
  out[threadIdx.x] = 1;
}
LITMUS(waits_for_a_warp_that_arrives) {
  waits_for_a_warp_that_arrives<<<1, 64>>>(zeroed<int>(64));
}

// expect: barrier-divergence
__global__ void different_counts(int* out) {
  if (threadIdx.x < 32) {
    WAIT_AT(1, 64);                           //~ wait
  } else {
    WAIT_AT(1, 96);                           //~ wait
  }
  out[threadIdx.x] = 1;
}
LITMUS(different_counts) { different_counts<<<1, 64>>>(zeroed<int>(64)); }

// expect: clean
__global__ void one_count(int* out) {
  if (threadIdx.x < 32) {
    WAIT_AT(1, 64);
  } else {
    WAIT_AT(1, 64);
  }
  out[threadIdx.x] = 1;
}
LITMUS(one_count) { one_count<<<1, 64>>>(zeroed<int>(64)); }

// expect: barrier-divergence
__global__ void no_multiple_of_a_warp(int* out, int threads) {
  WAIT_AT(1, threads);                        //~ wait
  out[threadIdx.x] = 1;
}
LITMUS(no_multiple_of_a_warp) { no_multiple_of_a_warp<<<1, 64>>>(zeroed<int>(64), 50); }

// expect: clean
__global__ void a_multiple_of_a_warp(int* out, int threads) {
  WAIT_AT(1, threads);
  out[threadIdx.x] = 1;
}
LITMUS(a_multiple_of_a_warp) { a_multiple_of_a_warp<<<1, 64>>>(zeroed<int>(64), 64); }

// expect: clean
__global__ void counts_votes(int* out) {
  const int votes = __syncthreads_count(threadIdx.x % 3 == 0);
  if (__syncthreads_or(votes == 0) == 0) out[threadIdx.x] = votes;
}
LITMUS(counts_votes) { counts_votes<<<1, 70>>>(zeroed<int>(70)); }

// A lock that a lane of the same warp holds: who has it waits for the others to come out of the
// loop, where lanes of a warp run together.
// expect: deadlock lockstep
__global__ void lock_within_a_warp(int* lock, int* count) {
  while (atomicCAS(lock, 0, 1) != 0) {}       //~ spin //~ write
  atomicAdd(count, 1);                        //~ wait
  atomicExch(lock, 0);
}
LITMUS(lock_within_a_warp) { lock_within_a_warp<<<1, 4>>>(zeroed<int>(1), zeroed<int>(1)); }

// expect: clean
__global__ void lock_of_a_warp(int* lock, int* count) {
  if (threadIdx.x % 32 != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {}
  atomicAdd(count, 1);
  atomicExch(lock, 0);
}
LITMUS(lock_of_a_warp) { lock_of_a_warp<<<1, 128>>>(zeroed<int>(1), zeroed<int>(1)); }

// expect: clean
__global__ void producers_arrive_and_consumers_wait(int* out) {
  __shared__ int s[64];
  if (threadIdx.x < 64) {
    s[threadIdx.x] = threadIdx.x;
    ARRIVE_AT(1, 128);
  } else {
    WAIT_AT(1, 128);
    out[threadIdx.x] = s[127 - threadIdx.x];
  }
}
LITMUS(producers_arrive_and_consumers_wait) {
  producers_arrive_and_consumers_wait<<<1, 128>>>(zeroed<int>(128));
}

// The consumers meet among themselves only.
// expect: data-race shared
__global__ void consumers_wait_for_themselves(int* out, int threads) {
  __shared__ int s[64];
  if (threadIdx.x < 64) {
    s[threadIdx.x] = threadIdx.x;             //~ write
    WAIT_AT(1, threads);
  } else {
    WAIT_AT(2, threads);
    out[threadIdx.x] = s[127 - threadIdx.x];  //~ read
  }
}
LITMUS(consumers_wait_for_themselves) {
  consumers_wait_for_themselves<<<1, 128>>>(zeroed<int>(128), 64);
}
