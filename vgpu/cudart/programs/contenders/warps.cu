// Contenders are warps of a block, by their lane 0; what they contend for is in shared memory.
#include "contenders.hpp"

namespace {

__device__ int read(const int* place) {
  int value;
  asm volatile("ld.relaxed.gpu.u32 %0, [%1];" : "=r"(value) : "l"(place) : "memory");
  return value;
}
__device__ void take(int* lock) {
  while (atomicCAS(lock, 0, 1) != 0) {
  }
  __threadfence_block();
}
__device__ int me() { return static_cast<int>(threadIdx.x / 32); }
__device__ bool is_lane_0() { return threadIdx.x % 32 == 0; }
__device__ int last_warp() { return static_cast<int>(blockDim.x / 32) - 1; }

// Zeros, before anybody goes on.
__device__ void clear(Memory* s) {
  if (threadIdx.x < sizeof(Memory) / sizeof(int)) reinterpret_cast<int*>(s)[threadIdx.x] = 0;
  __syncthreads();
}

}  // namespace

// The first warp to begin a task announces it; warp 2 does so before the task is there.
template <bool fixed>
__global__ void task_announced_early(Memory*) {
  __shared__ Memory s;
  clear(&s);
  if (!is_lane_0()) return;
  if (atomicAdd(&s.ticket, 1) == 0) {
    const bool is_early = !fixed && me() == 2;
    if (is_early) atomicExch(&s.flag, 1);
    s.data = 7;  //~
    __threadfence_block();
    if (!is_early) atomicExch(&s.flag, 1);
  }
  while (read(&s.flag) == 0) {
  }
  __threadfence_block();
  s.slot[me()] = s.data;  //~
}
CONTEST(task_announced_early, 1, 256)

// Warp 0 leaves the lock without a fence if nobody was there before it.
template <bool fixed>
__global__ void shared_lock(Memory*) {
  __shared__ Memory s;
  clear(&s);
  if (!is_lane_0()) return;
  take(&s.lock);
  const bool is_careless = !fixed && me() == 0 && s.result == 0;  //~
  s.result = 1;                                                   //~
  s.data += 1;                                                    //~
  if (!is_careless) __threadfence_block();
  atomicExch(&s.lock, 0);
}
CONTEST(shared_lock, 1, 128)

// The last warp to arrive adds up.  Warp 1 arrives without a fence if it is the first.
template <bool fixed>
__global__ void last_warp_adds_up(Memory*) {
  __shared__ Memory s;
  clear(&s);
  if (!is_lane_0()) return;
  s.slot[me()] = me();  //~
  const bool is_first = atomicAdd(&s.ticket, 1) == 0;
  if (fixed || !is_first || me() != 1) __threadfence_block();
  if (atomicAdd(&s.arrived, 1) != last_warp()) return;
  __threadfence_block();
  for (int i = 0; i <= last_warp(); ++i) s.result += s.slot[i];  //~
}
CONTEST(last_warp_adds_up, 1, 192)

// Without a barrier in between, warp 0 sets up what warp 1 uses.
template <bool fixed>
__global__ void flag_in_shared(Memory* m) {
  if (!is_lane_0()) return;
  if (me() == 0) {
    m->data = 1;  //~
    __threadfence_block();
    atomicExch(&m->flag, 1);
    return;
  }
  while (fixed && read(&m->flag) == 0) {
  }
  const bool is_there = read(&m->flag) != 0;
  __threadfence_block();
  m->result = is_there ? m->data : -m->data;  //~
}
CONTEST(flag_in_shared, 1, 64)

// A stack: warp 3 takes the top before it has looked whether there is one.
template <bool fixed>
__global__ void stack_of_warps(Memory* m) {
  if (!is_lane_0()) return;
  if (me() != 3) {
    m->slot[me()] = me();  //~
    __threadfence_block();
    atomicOr(&m->flag, 1 << me());
    return;
  }
  const int there = read(&m->flag);
  __threadfence_block();
  if (!fixed && there == 0) m->result = m->slot[0];  //~
  if ((there & 1) != 0) m->result = m->slot[0];
}
CONTEST(stack_of_warps, 1, 128)

// Plain store by the first, atomics by all others: only warp 5 takes the shortcut.
template <bool fixed>
__global__ void counter_shortcut(Memory*) {
  __shared__ Memory s;
  clear(&s);
  if (!is_lane_0()) return;
  const bool is_first = atomicAdd(&s.arrived, 1) == 0;
  if (!fixed && is_first && me() == 5) {
    s.data = 1;  //~
  } else {
    atomicAdd(&s.data, 1);  //~
  }
}
CONTEST(counter_shortcut, 1, 256)

// Double-checked set-up: warp 2 trusts the flag that it has set itself, and lets the lock go
// early.
template <bool fixed>
__global__ void double_checked(Memory*) {
  __shared__ Memory s;
  clear(&s);
  if (!is_lane_0()) return;
  if (read(&s.flag) == 0) {
    take(&s.lock);
    if (read(&s.flag) == 0) {
      const bool is_early = !fixed && me() == 2;
      if (is_early) atomicExch(&s.flag, 1);
      s.data = 3;  //~
      __threadfence_block();
      if (!is_early) atomicExch(&s.flag, 1);
    }
    __threadfence_block();
    atomicExch(&s.lock, 0);
  }
  __threadfence_block();
  s.slot[me()] = s.data;  //~
}
CONTEST(double_checked, 1, 160)

// Warps leave in the order of their tickets; the one with number 1 does not wait if it is first.
template <bool fixed>
__global__ void in_order(Memory*) {
  __shared__ Memory s;
  clear(&s);
  if (!is_lane_0()) return;
  const int mine = atomicAdd(&s.ticket, 1);
  while (read(&s.serving) != mine) {
  }
  __threadfence_block();
  const bool is_rash = !fixed && mine == 0 && me() == 1;
  if (is_rash) atomicAdd(&s.serving, 1);
  s.data = 2 * s.data + me();  //~
  __threadfence_block();
  if (!is_rash) atomicAdd(&s.serving, 1);
}
CONTEST(in_order, 1, 224)

// Blocks and warps: warp 1 of block 1 alone takes the lock without looking.
template <bool fixed>
__global__ void two_by_two(Memory* m) {
  if (!is_lane_0()) return;
  const bool is_rash = !fixed && blockIdx.x == 1 && me() == 1 && read(&m->arrived) == 0;
  if (is_rash) {
    m->data = 5;  //~
    return;
  }
  atomicAdd(&m->arrived, 1);
  take(&m->lock);
  __threadfence();
  m->data += 1;  //~
  __threadfence();
  atomicExch(&m->lock, 0);
}
CONTEST(two_by_two, 2, 64)

// A barrier of their own: warp 6 counts itself in before it has written, if it is the first.
template <bool fixed>
__global__ void own_barrier(Memory*) {
  __shared__ Memory s;
  clear(&s);
  if (!is_lane_0()) return;
  const bool is_early = !fixed && me() == 6 && read(&s.arrived) == 0;
  if (is_early) atomicAdd(&s.arrived, 1);
  s.slot[me()] = me();  //~
  __threadfence_block();
  if (!is_early) atomicAdd(&s.arrived, 1);
  while (read(&s.arrived) <= last_warp()) {
  }
  __threadfence_block();
  s.slot[8 + me()] = s.slot[(me() + 1) % (last_warp() + 1)];  //~
}
CONTEST(own_barrier, 1, 256)

#ifndef CONTENDERS_WITHOUT_MAIN
int main(int count, char** words) { return main_of_contests(count, words); }
#endif
