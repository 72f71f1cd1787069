// What real programs build of fences and flags: last-block reductions, chained scans, locks and
// grid barriers, right and with one part missing.
#include "vgpu/litmus/flags.cuh"
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::set;
using warpcheck::litmus::wait_for;
using warpcheck::litmus::zeroed;

namespace {

constexpr int kBlocks = 4;

}  // namespace

// The block that takes the last ticket reads what all have written.  It may reset the counter with
// a plain store: it has seen everybody's ticket.
// expect: clean
__global__ void last_block_sums(int* partial, int* count, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = 1;
    __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x < gridDim.x) atomicAdd(out, partial[threadIdx.x]);
  if (threadIdx.x == 0) *count = 0;
}
LITMUS(last_block_sums) {
  last_block_sums<<<kBlocks, 64>>>(zeroed<int>(kBlocks), zeroed<int>(1), zeroed<int>(1));
}

// expect: data-race global
__global__ void last_block_sums_without_release(int* partial, int* count, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = 1;                                 //~ write
    last = atomicAdd(count, 1) == gridDim.x - 1;
    __threadfence();
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) atomicAdd(out, partial[threadIdx.x]);  //~ read
}
LITMUS(last_block_sums_without_release) {
  last_block_sums_without_release<<<kBlocks, 64>>>(zeroed<int>(kBlocks), zeroed<int>(1),
                                                   zeroed<int>(1));
}

// A barrier of the reader's block is no acquire of what another block has released.
// expect: data-race global
__global__ void last_block_sums_without_acquire(int* partial, int* count, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = 1;                                 //~ write
    __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) atomicAdd(out, partial[threadIdx.x]);  //~ read
}
LITMUS(last_block_sums_without_acquire) {
  last_block_sums_without_acquire<<<kBlocks, 64>>>(zeroed<int>(kBlocks), zeroed<int>(1),
                                                   zeroed<int>(1));
}

// The programming guide's version: volatile results are strong, and do not race at all.
// expect: clean
__global__ void last_block_sums_volatile(volatile int* partial, int* count, int* out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = 1;
    __threadfence();
    last = atomicAdd(count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x < gridDim.x) atomicAdd(out, partial[threadIdx.x]);
}
LITMUS(last_block_sums_volatile) {
  last_block_sums_volatile<<<kBlocks, 64>>>(zeroed<int>(kBlocks), zeroed<int>(1), zeroed<int>(1));
}

// Each block waits for the prefix of the one before.
// expect: clean
__global__ void chained_scan(const int* in, int* prefix, int* ready) {
  __shared__ int before;
  const int block = blockIdx.x;
  if (threadIdx.x == 0) {
    before = 0;
    if (block > 0) {
      wait_for(&ready[block - 1], 1);
      __threadfence();
      before = prefix[block - 1];
    }
    prefix[block] = before + in[block];
    __threadfence();
    set(&ready[block], 1);
  }
  __syncthreads();
}
LITMUS(chained_scan) {
  chained_scan<<<40, 32>>>(zeroed<int>(40), zeroed<int>(40), zeroed<int>(40));
}

// expect: data-race global
__global__ void chained_scan_without_fence(const int* in, int* prefix, int* ready) {
  __shared__ int before;
  const int block = blockIdx.x;
  if (threadIdx.x == 0) {
    before = 0;
    if (block > 0) {
      wait_for(&ready[block - 1], 1);
      __threadfence();
      before = prefix[block - 1];                            //~ read
    }
    prefix[block] = before + in[block];                      //~ write
    set(&ready[block], 1);
  }
  __syncthreads();
}
LITMUS(chained_scan_without_fence) {
  chained_scan_without_fence<<<2, 32>>>(zeroed<int>(2), zeroed<int>(2), zeroed<int>(2));
}

// Look-back: each block publishes its sum at once and adds up those of all before it.
// expect: clean
__global__ void look_back(const int* in, int* sum, int* ready, int* out) {
  const int block = blockIdx.x;
  if (threadIdx.x == 0) {
    sum[block] = in[block];
    __threadfence();
    set(&ready[block], 1);
    int total = 0;
    for (int other = block - 1; other >= 0; --other) {
      wait_for(&ready[other], 1);
      __threadfence();
      total += sum[other];
    }
    out[block] = total;
  }
}
LITMUS(look_back) {
  look_back<<<24, 32>>>(zeroed<int>(24), zeroed<int>(24), zeroed<int>(24), zeroed<int>(24));
}

// expect: data-race global
__global__ void look_back_with_block_fence(const int* in, int* sum, int* ready, int* out) {
  const int block = blockIdx.x;
  if (threadIdx.x == 0) {
    sum[block] = in[block];                                  //~ write
    __threadfence_block();
    set(&ready[block], 1);
    int total = 0;
    for (int other = block - 1; other >= 0; --other) {
      wait_for(&ready[other], 1);
      __threadfence();
      total += sum[other];                                   //~ read
    }
    out[block] = total;
  }
}
LITMUS(look_back_with_block_fence) {
  look_back_with_block_fence<<<4, 32>>>(zeroed<int>(4), zeroed<int>(4), zeroed<int>(4),
                                        zeroed<int>(4));
}

// expect: clean
__global__ void spin_lock(int* lock, int* count) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *count += 1;
  __threadfence();
  atomicExch(lock, 0);
}
LITMUS(spin_lock) { spin_lock<<<kBlocks, 32>>>(zeroed<int>(1), zeroed<int>(1)); }

// expect: data-race global
__global__ void spin_lock_without_release(int* lock, int* count) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence();
  *count += 1;                                               //~ write //~ read
  atomicExch(lock, 0);
}
LITMUS(spin_lock_without_release) {
  spin_lock_without_release<<<kBlocks, 32>>>(zeroed<int>(1), zeroed<int>(1));
}

// expect: data-race global
__global__ void spin_lock_without_acquire(int* lock, int* count) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  *count += 1;                                               //~ write //~ read
  __threadfence();
  atomicExch(lock, 0);
}
LITMUS(spin_lock_without_acquire) {
  spin_lock_without_acquire<<<kBlocks, 32>>>(zeroed<int>(1), zeroed<int>(1));
}

// A plain store is no strong write: it releases nothing, and races with those who try the lock.
// expect: data-race global
__global__ void spin_lock_released_by_a_plain_store(int* lock, int* count) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(lock, 0, 1) != 0) {                       //~ atomic
  }
  __threadfence();
  *count += 1;                                               //~ write //~ read
  __threadfence();
  *lock = 0;                                                 //~ write
}
LITMUS(spin_lock_released_by_a_plain_store) {
  spin_lock_released_by_a_plain_store<<<kBlocks, 32>>>(zeroed<int>(1), zeroed<int>(1));
}

// expect: clean
__global__ void grid_barrier(int* arrived, int* data, int* out) {
  if (threadIdx.x == 1) data[blockIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    wait_for(arrived, gridDim.x);
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 2) out[blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];
}
LITMUS(grid_barrier) {
  grid_barrier<<<kBlocks, 64>>>(zeroed<int>(1), zeroed<int>(kBlocks), zeroed<int>(kBlocks));
}

// expect: data-race global
__global__ void grid_barrier_without_fences(int* arrived, int* data, int* out) {
  if (threadIdx.x == 1) data[blockIdx.x] = 1;                //~ write
  __syncthreads();
  if (threadIdx.x == 0) {
    atomicAdd(arrived, 1);
    wait_for(arrived, gridDim.x);
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 2) out[blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];  //~ read
}
LITMUS(grid_barrier_without_fences) {
  grid_barrier_without_fences<<<kBlocks, 64>>>(zeroed<int>(1), zeroed<int>(kBlocks),
                                               zeroed<int>(kBlocks));
}

// The others of the block have not yet written when thread 0 tells that they have.
// expect: data-race global
__global__ void grid_barrier_without_block_barrier(int* arrived, int* data, int* out) {
  if (threadIdx.x == 32) data[blockIdx.x] = 1;               //~ write
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(arrived, 1);
    wait_for(arrived, gridDim.x);
    __threadfence();
  }
  __syncthreads();
  if (threadIdx.x == 2) out[blockIdx.x] = data[(blockIdx.x + 1) % gridDim.x];  //~ read
}
LITMUS(grid_barrier_without_block_barrier) {
  grid_barrier_without_block_barrier<<<kBlocks, 64>>>(zeroed<int>(1), zeroed<int>(kBlocks),
                                                      zeroed<int>(kBlocks));
}
