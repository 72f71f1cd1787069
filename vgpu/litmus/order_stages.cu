// Blocks that wait for a counter that only grows: whoever waits may go on at the first value that
// is enough, even if it looks so late that the counter has grown further.
#include "vgpu/litmus/flags.cuh"
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::set;
using warpcheck::litmus::zeroed;

namespace {

__device__ void wait_until(int* stage, int value) {
  while (*static_cast<volatile int*>(stage) < value) {
  }
  __threadfence();
}

// Adds one for the block and waits for `arrivals`.
__device__ void meet(unsigned* count, unsigned arrivals) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(count, 1);
    while (*static_cast<volatile unsigned*>(count) < arrivals) {
    }
    __threadfence();
  }
  __syncthreads();
}

}  // namespace

// The writer fills the buffer again as soon as the reader has taken the first value.
// expect: clean
__global__ void stages_of_a_buffer(int* data, int* stage, int* taken, int* out) {
  if (blockIdx.x == 1) {
    *data = 1;
    __threadfence();
    set(stage, 1);
    wait_until(taken, 1);
    *data = 2;
    __threadfence();
    set(stage, 2);
  } else {
    wait_until(stage, 1);
    out[0] = *data;
    __threadfence();
    set(taken, 1);
    wait_until(stage, 2);
    out[1] = *data;
  }
}
LITMUS(stages_of_a_buffer) {
  stages_of_a_buffer<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(1), zeroed<int>(2));
}

// The writer does not wait for the reader, which first looks at the stage, and next when the writer
// has ended.
// expect: data-race global
__global__ void stages_of_a_buffer_without_an_answer(int* data, int* stage, int* out) {
  if (blockIdx.x == 1) {
    *data = 1;
    __threadfence();
    set(stage, 1);
    *data = 2;          //~ write
    __threadfence();
    set(stage, 2);
  } else {
    wait_until(stage, 1);
    out[0] = *data;     //~ read
    wait_until(stage, 2);
    out[1] = *data;
  }
}
LITMUS(stages_of_a_buffer_without_an_answer) {
  stages_of_a_buffer_without_an_answer<<<2, 1>>>(zeroed<int>(1), zeroed<int>(1), zeroed<int>(2));
}

// expect: clean
__global__ void steps_between_grid_barriers(int* values, unsigned* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  const int left = values[(i + n - 1) % n];
  meet(count, gridDim.x);
  values[i] = left;
  meet(count, 2 * gridDim.x);
  values[i] += values[n + (i + 1) % n];
}
LITMUS(steps_between_grid_barriers) {
  steps_between_grid_barriers<<<4, 32>>>(zeroed<int>(256), zeroed<unsigned>(1));
}

// One barrier of a step is missing: a block that waits may read its word when the last block has
// arrived at the next one.
// expect: data-race global
__global__ void steps_with_one_grid_barrier(int* values, unsigned* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, n = gridDim.x * blockDim.x;
  for (int step = 1; step <= 3; ++step) {
    const int left = values[(i + n - 1) % n];     //~ read
    meet(count, step * gridDim.x);
    values[i] = left;                             //~ write
  }
}
LITMUS(steps_with_one_grid_barrier) {
  steps_with_one_grid_barrier<<<4, 32>>>(zeroed<int>(128), zeroed<unsigned>(1));
}

// A counter that is polled by atomic operations which change nothing; in unoptimised code they are
// calls.
// expect: data-race global optimized
__global__ void steps_with_a_barrier_that_is_polled_by_atomics(int* values, unsigned* count) {
  const int i = blockIdx.x;
  for (int step = 1; step <= 2; ++step) {
    const int left = values[(i + 2) % 3];         //~ read
    __threadfence();
    atomicAdd(count, 1);
    while (atomicAdd(count, 0) < step * gridDim.x) {
    }
    __threadfence();
    values[i] = left;                             //~ write
  }
}
LITMUS(steps_with_a_barrier_that_is_polled_by_atomics) {
  steps_with_a_barrier_that_is_polled_by_atomics<<<3, 1>>>(zeroed<int>(3), zeroed<unsigned>(1));
}

// The writer of a ring does not wait for the reader, which pauses between its looks; nvcc puts the
// first look in front of the loop, and in unoptimised code the pause is a call.
// expect: data-race global optimized
__global__ void ring_without_an_answer(int* ring, int* filled, int* out) {
  for (int i = 0; i < 4; ++i) {
    if (blockIdx.x == 1) {
      ring[i % 2] = i;        //~ write
      __threadfence();
      set(filled, i + 1);
    } else {
      while (*static_cast<volatile int*>(filled) < i + 1) __nanosleep(20);
      __threadfence();
      out[i] = ring[i % 2];   //~ read
    }
  }
}
LITMUS(ring_without_an_answer) {
  ring_without_an_answer<<<2, 1>>>(zeroed<int>(2), zeroed<int>(1), zeroed<int>(4));
}

// The reader takes all that the writer has announced by the time it looks, which may be more than
// what it waits for.
// expect: clean
__global__ void items_taken_in_batches(int* items, int* filled, int* out) {
  constexpr int kItems = 64;
  if (blockIdx.x == 1) {
    for (int i = 0; i < kItems; ++i) {
      items[i] = i;
      __threadfence();
      set(filled, i + 1);
    }
    return;
  }
  int taken = 0;
  while (taken < kItems) {
    int ready;
    do {
      ready = *static_cast<volatile int*>(filled);
    } while (ready <= taken);
    __threadfence();
    for (; taken < ready; ++taken) out[taken] = items[taken];
  }
}
LITMUS(items_taken_in_batches) {
  items_taken_in_batches<<<2, 1>>>(zeroed<int>(64), zeroed<int>(1), zeroed<int>(64));
}

// The writer announces an item before it writes it.
// expect: data-race global
__global__ void items_taken_too_early(int* items, int* filled, int* out) {
  constexpr int kItems = 64;
  if (blockIdx.x == 1) {
    for (int i = 0; i < kItems; ++i) {
      __threadfence();
      set(filled, i + 1);
      items[i] = i;                                                             //~ write
    }
    return;
  }
  int taken = 0;
  while (taken < kItems) {
    int ready;
    do {
      ready = *static_cast<volatile int*>(filled);
    } while (ready <= taken);
    __threadfence();
    for (; taken < ready; ++taken) out[taken] = items[taken];                   //~ read
  }
}
LITMUS(items_taken_too_early) {
  items_taken_too_early<<<2, 1>>>(zeroed<int>(64), zeroed<int>(1), zeroed<int>(64));
}
