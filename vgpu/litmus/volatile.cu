// Volatile and relaxed accesses: they do not race with each other (PTX ISA 8.4.2, 8.7), and order
// nothing.  Data that they hand on needs an order all the same; what a thread polls does not.
#include <cuda/atomic>

#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;

namespace {

using Relaxed = cuda::atomic_ref<int, cuda::thread_scope_device>;

__device__ void wait_for(volatile int* flag, int value) {
  while (*flag != value) {
  }
}

}  // namespace

// The last steps of a tree, as they were written before sm_70.
// expect: data-race shared independent
__global__ void tree_without_syncwarp(const int* in, int* out) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  s[t + 32] = in[t + 32];
  __syncthreads();
  s[t] = s[t] + s[t + 32];                   //~ write
  s[t] = s[t] + s[t + 16];                   //~ read //~ write
  if (t == 0) *out = s[0];
}
LITMUS(tree_without_syncwarp) {
  tree_without_syncwarp<<<1, 32>>>(zeroed<int>(64), zeroed<int>(1));
}

// expect: clean
__global__ void tree_with_syncwarp(const int* in, int* out) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  s[t + 32] = in[t + 32];
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    const int other = s[t + half];
    __syncwarp();
    s[t] = s[t] + other;
    __syncwarp();
  }
  if (t == 0) *out = s[0];
}
LITMUS(tree_with_syncwarp) {
  tree_with_syncwarp<<<1, 32>>>(zeroed<int>(64), zeroed<int>(1));
}

// A comparison with other data is no look at a flag.
// expect: data-race shared independent
__global__ void maximum_without_syncwarp(const int* in, int* out) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  s[t + 32] = in[t + 32];
  __syncthreads();
  for (int half = 16; half > 0; half /= 2) {
    const int other = s[t + half];           //~ read
    if (other >= s[t]) s[t] = other;         //~ write
  }
  if (t == 0) *out = s[0];
}
LITMUS(maximum_without_syncwarp) {
  maximum_without_syncwarp<<<1, 32>>>(zeroed<int>(64), zeroed<int>(1));
}

// A shuffle orders no memory: the lanes load what others have stored before it.
// expect: data-race shared independent
__global__ void tree_with_shuffles_between(const int* in, int* out) {
  __shared__ volatile int s[32];
  const int t = threadIdx.x;
  s[t] = in[t];                              //~ write
  const int all = __shfl_sync(~0u, t, 0);
  out[t] = s[(t + 1) % 32] + all;            //~ read
}
LITMUS(tree_with_shuffles_between) {
  tree_with_shuffles_between<<<1, 32>>>(zeroed<int>(32), zeroed<int>(32));
}

// A mailbox that says itself whether it is full.
// expect: clean
__global__ void polled_mailbox(int* out) {
  __shared__ volatile int box[32];
  const int t = threadIdx.x;
  box[t] = 0;
  __syncthreads();
  box[t] = t + 1;
  int seen;
  do {
    seen = box[(t + 1) % 32];
  } while (seen == 0);
  out[t] = seen;
}
LITMUS(polled_mailbox) { polled_mailbox<<<1, 32>>>(zeroed<int>(32)); }

// expect: clean
__global__ void flag_between_warps(int* out) {
  __shared__ volatile int flag;
  __shared__ int data;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = 7;
    __threadfence_block();
    flag = 1;
  } else if (threadIdx.x == 32) {
    wait_for(&flag, 1);
    __threadfence_block();
    *out = data;
  }
}
LITMUS(flag_between_warps) { flag_between_warps<<<1, 64>>>(zeroed<int>(1)); }

// Data between warps of a block, and nothing that orders it.
// expect: data-race shared note
__global__ void volatile_data_between_warps(int* out) {
  __shared__ volatile int data;
  if (threadIdx.x == 0) data = 7;            //~ write
  if (threadIdx.x == 32) *out = data;        //~ read
}
LITMUS(volatile_data_between_warps) { volatile_data_between_warps<<<1, 64>>>(zeroed<int>(1)); }

// expect: clean
__global__ void volatile_data_behind_a_barrier(int* out) {
  __shared__ volatile int data;
  if (threadIdx.x == 0) data = 7;
  __syncthreads();
  if (threadIdx.x == 32) *out = data;
}
LITMUS(volatile_data_behind_a_barrier) {
  volatile_data_behind_a_barrier<<<1, 64>>>(zeroed<int>(1));
}

// A flag without fences hands on volatile data.
// expect: data-race global note
__global__ void volatile_message_without_fences(volatile int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 7;                               //~ write
    *flag = 1;
  } else {
    wait_for(flag, 1);
    *out = *data;                            //~ read
  }
}
LITMUS(volatile_message_without_fences) {
  volatile_message_without_fences<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(1));
}

// expect: clean
__global__ void volatile_message_with_fences(volatile int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 7;
    __threadfence();
    *flag = 1;
  } else {
    wait_for(flag, 1);
    __threadfence();
    *out = *data;
  }
}
LITMUS(volatile_message_with_fences) {
  volatile_message_with_fences<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(1));
}

// expect: data-race global note
__global__ void volatile_message_with_block_fences(volatile int* data, volatile int* flag,
                                                   int* out) {
  if (blockIdx.x == 0) {
    *data = 7;                               //~ write
    __threadfence_block();
    *flag = 1;
  } else {
    wait_for(flag, 1);
    __threadfence_block();
    *out = *data;                            //~ read
  }
}
LITMUS(volatile_message_with_block_fences) {
  volatile_message_with_block_fences<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(1));
}

// In unoptimised code the value goes through local memory, where it is not followed.
// expect: data-race global note optimized
__global__ void relaxed_data(int* data, int* out) {
  if (blockIdx.x == 0) {
    Relaxed(*data).store(7, cuda::memory_order_relaxed);           //~ write
  } else {
    *out = Relaxed(*data).load(cuda::memory_order_relaxed);        //~ read
  }
}
LITMUS(relaxed_data) { relaxed_data<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1)); }

// A pruning bound: it is only compared.
// expect: clean
__global__ void relaxed_bound(volatile int* bound, int* out) {
  const int mine = blockIdx.x + 1;
  if (blockIdx.x == 0) *bound = 5;
  if (mine > *bound) out[blockIdx.x] = mine;
}
LITMUS(relaxed_bound) { relaxed_bound<<<2, 1>>>(zeroed<int>(1), zeroed<int>(2)); }

// Counters are atomics: their values are for everybody.
// expect: clean
__global__ void relaxed_counter(int* counter, int* out) {
  Relaxed shared_counter(*counter);
  shared_counter.fetch_add(1, cuda::memory_order_relaxed);
  out[blockIdx.x] = shared_counter.load(cuda::memory_order_relaxed);
}
LITMUS(relaxed_counter) { relaxed_counter<<<2, 1>>>(zeroed<int>(1), zeroed<int>(2)); }

// Within a warp, in global memory: as between warps.
// expect: data-race global note independent
__global__ void volatile_data_between_lanes(volatile int* data, int* out) {
  data[threadIdx.x] = threadIdx.x;                     //~ write
  out[threadIdx.x] = data[(threadIdx.x + 1) % 32];     //~ read
}
LITMUS(volatile_data_between_lanes) {
  volatile_data_between_lanes<<<1, 32>>>(zeroed<int>(32), zeroed<int>(32));
}

// Which value stays is chance.
// expect: data-race global note
__global__ void volatile_stores_of_two_blocks(volatile int* data) {
  *data = blockIdx.x;                                  //~ write
}
LITMUS(volatile_stores_of_two_blocks) { volatile_stores_of_two_blocks<<<2, 1>>>(zeroed<int>(1)); }

// expect: clean
__global__ void volatile_stores_of_one_value(volatile int* data) { *data = 1; }
LITMUS(volatile_stores_of_one_value) { volatile_stores_of_one_value<<<2, 64>>>(zeroed<int>(1)); }

// A lock at block scope keeps nobody else out.
// expect: data-race global
// expect: data-race global note
__global__ void block_scope_lock(int* lock, volatile int* data) {
  while (atomicCAS_block(lock, 0, 1) != 0) {           //~ atomic
  }
  __threadfence_block();
  *data = blockIdx.x;                                  //~ write
  __threadfence_block();
  atomicExch_block(lock, 0);                           //~ atomic
}
LITMUS(block_scope_lock) { block_scope_lock<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1)); }
