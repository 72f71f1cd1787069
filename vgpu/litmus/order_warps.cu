// Threads of one block that meet in parts: warps at __syncwarp(), producers and consumers at named
// barriers.
#include "vgpu/litmus/flags.cuh"
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::set;
using warpcheck::litmus::wait_for;
using warpcheck::litmus::zeroed;

// expect: clean
__global__ void warp_reduction(int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  const int lane = t % 32;
  s[t] = t;
  __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    const int other = lane < half ? s[t + half] : 0;
    __syncwarp();
    s[t] += other;
    __syncwarp();
  }
  if (lane == 0) out[t / 32] = s[t];
}
LITMUS(warp_reduction) { warp_reduction<<<1, 64>>>(zeroed<int>(2)); }

// The warp-synchronous code of old.
// expect: data-race shared independent
__global__ void warp_reduction_without_syncwarp(int* out) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  const int lane = t % 32;
  s[t] = t;
  __syncwarp();
  for (int half = 16; half > 0; half /= 2) {
    const int other = lane < half ? s[t + half] : 0;  //~ read
    __syncwarp(lane < 16 ? 0xffff : 0xffff0000);
    s[t] += other;                              //~ write
  }
  if (lane == 0) out[t / 32] = s[t];
}
LITMUS(warp_reduction_without_syncwarp) {
  warp_reduction_without_syncwarp<<<1, 64>>>(zeroed<int>(2));
}

// A warp barrier is for its members.
// expect: data-race shared independent
__global__ void warp_barrier_of_half_a_warp(int* out) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = t;                                     //~ write
  __syncwarp(t < 16 ? 0xffff : 0xffff0000);
  out[t] = s[t ^ 16];                           //~ read
}
LITMUS(warp_barrier_of_half_a_warp) { warp_barrier_of_half_a_warp<<<1, 32>>>(zeroed<int>(32)); }

// expect: clean
__global__ void warp_barrier_of_each_half(int* out) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = t;
  __syncwarp(t < 16 ? 0xffff : 0xffff0000);
  out[t] = s[t ^ 8];
}
LITMUS(warp_barrier_of_each_half) { warp_barrier_of_each_half<<<1, 32>>>(zeroed<int>(32)); }

// Warp 0 fills a buffer, warp 1 empties it, again and again: barrier 1 says that it is full,
// barrier 2 that it is empty.
// expect: clean
__global__ void producer_and_consumer(int* out) {
  __shared__ int buffer[32];
  const int lane = threadIdx.x % 32;
  for (int round = 0; round < 3; ++round) {
    if (threadIdx.x < 32) {
      if (round > 0) asm volatile("bar.sync 2, 64;" ::: "memory");
      buffer[lane] = round;
      asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
      asm volatile("bar.sync 1, 64;" ::: "memory");
      out[lane] += buffer[31 - lane];
      if (round < 2) asm volatile("bar.arrive 2, 64;" ::: "memory");
    }
  }
}
LITMUS(producer_and_consumer) { producer_and_consumer<<<1, 64>>>(zeroed<int>(32)); }

// A barrier for each round says that the buffer is full, and nothing that it is empty.
// expect: data-race shared
__global__ void producer_that_does_not_wait(int* out) {
  __shared__ int buffer[32];
  const int lane = threadIdx.x % 32;
  for (int round = 0; round < 2; ++round) {
    if (threadIdx.x < 32) {
      buffer[lane] = round;                     //~ write
      asm volatile("bar.arrive %0, 64;" ::"r"(1 + round) : "memory");
    } else {
      asm volatile("bar.sync %0, 64;" ::"r"(1 + round) : "memory");
      out[lane] += buffer[31 - lane];           //~ read
    }
  }
}
LITMUS(producer_that_does_not_wait) { producer_that_does_not_wait<<<1, 64>>>(zeroed<int>(32)); }

// Each lane of the first warp hands a word of shared memory to a lane of the second one: by a fence
// and a flag.
// expect: clean
__global__ void words_handed_on_by_fences(int* flags, int* out) {
  __shared__ int words[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) words[lane] = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    words[lane] = lane;
    __threadfence_block();
    set(flags + lane, 1);
  } else {
    wait_for(flags + lane, 1);
    __threadfence_block();
    out[lane] = words[lane];
  }
}
LITMUS(words_handed_on_by_fences) {
  words_handed_on_by_fences<<<1, 64>>>(zeroed<int>(32), zeroed<int>(32));
}

// The words are written after the fence.
// expect: data-race shared
__global__ void words_written_after_the_fence(int* flags, int* out) {
  __shared__ int words[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) words[lane] = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    __threadfence_block();
    words[lane] = lane;                         //~ write
    set(flags + lane, 1);
  } else {
    wait_for(flags + lane, 1);
    __threadfence_block();
    out[lane] = words[lane];                    //~ read
  }
}
LITMUS(words_written_after_the_fence) {
  words_written_after_the_fence<<<1, 64>>>(zeroed<int>(32), zeroed<int>(32));
}

__device__ void release(int* flag) {
  asm volatile("st.release.cta.global.u32 [%0], 1;" ::"l"(flag) : "memory");
}
__device__ void wait_and_acquire(const int* flag) {
  int seen;
  do {
    asm volatile("ld.acquire.cta.global.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");
  } while (seen == 0);
}

// By a flag that releases and acquires.
// expect: clean
__global__ void words_handed_on_by_releases(int* flags, int* out) {
  __shared__ int words[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) words[lane] = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    words[lane] = lane;
    release(flags + lane);
  } else {
    wait_and_acquire(flags + lane);
    out[lane] = words[lane];
  }
}
LITMUS(words_handed_on_by_releases) {
  words_handed_on_by_releases<<<1, 64>>>(zeroed<int>(32), zeroed<int>(32));
}

// The words are written after the release.
// expect: data-race shared
__global__ void words_written_after_the_release(int* flags, int* out) {
  __shared__ int words[32];
  const int lane = threadIdx.x % 32;
  if (threadIdx.x < 32) words[lane] = 0;
  __syncthreads();
  if (threadIdx.x < 32) {
    release(flags + lane);
    words[lane] = lane;                         //~ write
  } else {
    wait_and_acquire(flags + lane);
    out[lane] = words[lane];                    //~ read
  }
}
LITMUS(words_written_after_the_release) {
  words_written_after_the_release<<<1, 64>>>(zeroed<int>(32), zeroed<int>(32));
}
