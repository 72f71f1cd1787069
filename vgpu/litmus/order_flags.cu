// Blocks that pass data on through flags: release and acquire patterns (PTX ISA 8.8), whole and
// with one part missing.
#include <cuda/atomic>

#include "vgpu/litmus/flags.cuh"
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::set;
using warpcheck::litmus::wait_for;
using warpcheck::litmus::zeroed;

// expect: clean
__global__ void message_with_fences(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;
    __threadfence();
    set(flag, 1);
  } else {
    wait_for(flag, 1);
    __threadfence();
    *out = *data;
  }
}
LITMUS(message_with_fences) {
  message_with_fences<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(1));
}

// expect: data-race global
__global__ void message_without_release_fence(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;                               //~ write
    set(flag, 1);
  } else {
    wait_for(flag, 1);
    __threadfence();
    *out = *data;                            //~ read
  }
}
LITMUS(message_without_release_fence) {
  message_without_release_fence<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(1));
}

// expect: data-race global
__global__ void message_without_acquire_fence(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;                               //~ write
    __threadfence();
    set(flag, 1);
  } else {
    wait_for(flag, 1);
    *out = *data;                            //~ read
  }
}
LITMUS(message_without_acquire_fence) {
  message_without_acquire_fence<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(1));
}

// A fence for one block says nothing to another.
// expect: data-race global
__global__ void message_with_block_fences(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;                               //~ write
    __threadfence_block();
    set(flag, 1);
  } else {
    wait_for(flag, 1);
    __threadfence_block();
    *out = *data;                            //~ read
  }
}
LITMUS(message_with_block_fences) {
  message_with_block_fences<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(1));
}

// Within a block it is enough.
// expect: clean
__global__ void message_within_a_block(int* out) {
  __shared__ int data, flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = blockDim.x;
    __threadfence_block();
    set(&flag, 1);
  } else if (threadIdx.x == 32) {
    wait_for(&flag, 1);
    __threadfence_block();
    *out = data;
  }
}
LITMUS(message_within_a_block) { message_within_a_block<<<1, 64>>>(zeroed<int>(1)); }

// expect: data-race shared
__global__ void message_within_a_block_without_fences(int* out) {
  __shared__ int data, flag;
  if (threadIdx.x == 0) flag = 0;
  __syncthreads();
  if (threadIdx.x == 0) {
    data = blockDim.x;                       //~ write
    __threadfence_block();
    set(&flag, 1);
  } else if (threadIdx.x == 32) {
    wait_for(&flag, 1);
    *out = data;                             //~ read
  }
}
LITMUS(message_within_a_block_without_fences) {
  message_within_a_block_without_fences<<<1, 64>>>(zeroed<int>(1));
}

// expect: clean
__global__ void atomic_ref_release_acquire(int* data, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    *data = 1;
    ready.store(1, cuda::memory_order_release);
  } else {
    while (ready.load(cuda::memory_order_acquire) == 0) {
    }
    *out = *data;
  }
}
LITMUS(atomic_ref_release_acquire) {
  atomic_ref_release_acquire<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(1));
}

// expect: data-race global
__global__ void atomic_ref_relaxed(int* data, int* flag, int* out) {
  const cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (blockIdx.x == 0) {
    *data = 1;                               //~ write
    ready.store(1, cuda::memory_order_relaxed);
  } else {
    while (ready.load(cuda::memory_order_relaxed) == 0) {
    }
    *out = *data;                            //~ read
  }
}
LITMUS(atomic_ref_relaxed) {
  atomic_ref_relaxed<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(1));
}

// The flag of block scope is no flag for another block; and the flag itself races, too.
// expect: data-race global
__global__ void flag_of_block_scope(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;                                   //~ write
    asm volatile("st.release.cta.u32 [%0], 1;" : : "l"(flag) : "memory");  //~ write
  } else {
    int seen = 0;
    while (seen == 0) {
      asm volatile("ld.acquire.cta.u32 %0, [%1];" : "=r"(seen) : "l"(flag) : "memory");  //~ read
    }
    *out = *data;                                //~ read
  }
}
LITMUS(flag_of_block_scope) {
  flag_of_block_scope<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(1));
}

// What reaches a thread through another one is ordered as well.
// expect: clean
__global__ void message_through_a_third(int* data, int* flags, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;
    __threadfence();
    set(flags, 1);
  } else if (blockIdx.x == 1) {
    wait_for(flags, 1);
    __threadfence();
    set(flags + 1, 1);
  } else {
    wait_for(flags + 1, 1);
    __threadfence();
    *out = *data;
  }
}
LITMUS(message_through_a_third) {
  message_through_a_third<<<3, 1>>>(zeroed<int>(1), zeroed<int>(2), zeroed<int>(1));
}

// expect: data-race global
__global__ void message_through_a_careless_third(int* data, int* flags, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;                               //~ write
    __threadfence();
    set(flags, 1);
  } else if (blockIdx.x == 1) {
    wait_for(flags, 1);
    set(flags + 1, 1);
  } else {
    wait_for(flags + 1, 1);
    __threadfence();
    *out = *data;                            //~ read
  }
}
LITMUS(message_through_a_careless_third) {
  message_through_a_careless_third<<<3, 1>>>(zeroed<int>(1), zeroed<int>(2), zeroed<int>(1));
}

// Atomic operations hand a release on, relaxed ones too (observation order, PTX ISA 8.9.2).
// expect: clean
__global__ void release_through_atomics(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;
    __threadfence();
    atomicExch(flag, 1);
  } else if (blockIdx.x == 1) {
    wait_for(flag, 1);
    atomicAdd(flag, 1);
  } else {
    wait_for(flag, 2);
    __threadfence();
    *out = *data;
  }
}
LITMUS(release_through_atomics) {
  release_through_atomics<<<3, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(1));
}

// A store does not.
// expect: data-race global
__global__ void release_cut_off_by_a_store(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;                               //~ write
    __threadfence();
    atomicExch(flag, 1);
  } else if (blockIdx.x == 1) {
    wait_for(flag, 1);
    set(flag, 2);
  } else {
    wait_for(flag, 2);
    __threadfence();
    *out = *data;                            //~ read
  }
}
LITMUS(release_cut_off_by_a_store) {
  release_cut_off_by_a_store<<<3, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(1));
}

// A fence releases what came before it, and nothing else.
// expect: data-race global
__global__ void message_after_the_fence(int* data, int* flag, int* out) {
  if (blockIdx.x == 0) {
    __threadfence();
    *data = 1;                               //~ write
    set(flag, 1);
  } else {
    wait_for(flag, 1);
    __threadfence();
    *out = *data;                            //~ read
  }
}
LITMUS(message_after_the_fence) {
  message_after_the_fence<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(1));
}

// Two fences order nothing when no flag is seen between them.
// expect: data-race global
__global__ void fences_without_a_flag(int* data, int* out) {
  if (blockIdx.x == 0) {
    *data = 1;                               //~ write
    __threadfence();
  } else {
    __threadfence();
    *out = *data;                            //~ read
  }
}
LITMUS(fences_without_a_flag) { fences_without_a_flag<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1)); }
