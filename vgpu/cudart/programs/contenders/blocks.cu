// Contenders are blocks, by their thread 0.
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
  __threadfence();
}
__device__ int last_block() { return static_cast<int>(gridDim.x) - 1; }
__device__ int me() { return static_cast<int>(blockIdx.x); }

}  // namespace

// The last block leaves the lock without a fence.
template <bool fixed>
__global__ void lock_without_fence(Memory* m) {
  if (threadIdx.x != 0) return;
  take(&m->lock);
  m->data += me();  //~
  if (fixed || me() != last_block()) __threadfence();
  atomicExch(&m->lock, 0);
}
CONTEST(lock_without_fence, 4, 32)

// Whoever gets the first ticket of a ticket lock sets the data up; block 2 does so too late.
template <bool fixed>
__global__ void ticket_lock(Memory* m) {
  if (threadIdx.x != 0) return;
  const int mine = atomicAdd(&m->ticket, 1);
  while (read(&m->serving) != mine) {
  }
  __threadfence();
  const bool is_late = !fixed && mine == 0 && me() == 2;
  if (!is_late) m->data += 1;  //~
  __threadfence();
  atomicAdd(&m->serving, 1);
  if (is_late) m->data = 1;  //~
}
CONTEST(ticket_lock, 5, 32)

// Block 7 takes from a queue.  Where it is empty it looks at the slot all the same.
template <bool fixed>
__global__ void queue_of_many(Memory* m) {
  if (threadIdx.x != 0) return;
  if (me() != 7) {
    m->slot[me()] = me() + 1;  //~
    __threadfence();
    atomicOr(&m->flag, 1 << me());
    return;
  }
  const int filled = read(&m->flag);
  __threadfence();
  int sum = 0;
  for (int i = 0; i < 7; ++i) {
    if ((filled >> i & 1) != 0 || (!fixed && filled == 0)) sum += m->slot[i];  //~
  }
  m->result = sum;
}
CONTEST(queue_of_many, 8, 32)

// The last block to arrive adds up.  Block 5 arrives without a fence: no harm if it is the last.
template <bool fixed>
__global__ void last_block_adds_up(Memory* m) {
  if (threadIdx.x != 0) return;
  m->slot[me()] = me();  //~
  if (fixed || me() != 5) __threadfence();
  if (atomicAdd(&m->arrived, 1) != last_block()) return;
  __threadfence();
  for (int i = 0; i <= last_block(); ++i) m->result += m->slot[i];  //~
}
CONTEST(last_block_adds_up, 6, 32)

// The second block does not wait for the flag of the first.
template <bool fixed>
__global__ void flag_not_waited_for(Memory* m) {
  if (threadIdx.x != 0) return;
  if (me() == 0) {
    m->data = 1;  //~
    __threadfence();
    atomicExch(&m->flag, 1);
    return;
  }
  while (read(&m->flag) == 0) {
    if (!fixed) break;
  }
  __threadfence();
  m->result = m->data;  //~
}
CONTEST(flag_not_waited_for, 2, 32)

// The first to arrive sets the table up.  Block 3 tells the others before it has.
template <bool fixed>
__global__ void first_sets_up(Memory* m) {
  if (threadIdx.x != 0) return;
  if (atomicExch(&m->lock, 1) == 0) {
    const bool is_early = !fixed && me() == 3;
    if (is_early) atomicExch(&m->flag, 1);
    m->data = 42;  //~
    __threadfence();
    if (!is_early) atomicExch(&m->flag, 1);
  }
  while (read(&m->flag) == 0) {
  }
  __threadfence();
  m->slot[me()] = m->data;  //~
}
CONTEST(first_sets_up, 8, 32)

// Block 0 resets the counter by a plain store, as if it always came first.
template <bool fixed>
__global__ void counter_reset(Memory* m) {
  if (threadIdx.x != 0) return;
  if (me() == 0 && (fixed || read(&m->arrived) != 0)) {
    if (fixed) {
      atomicExch(&m->data, 0);
    } else {
      m->data = 0;  //~
    }
  } else {
    atomicAdd(&m->data, 1);  //~
  }
  atomicAdd(&m->arrived, 1);
}
CONTEST(counter_reset, 2, 32)

// Whoever finds no maximum yet stores its own by a plain store; only block 1 has one to store.
template <bool fixed>
__global__ void first_maximum(Memory* m) {
  if (threadIdx.x != 0) return;
  const int value = me() == 1 ? 9 : 1;
  if (!fixed && value > 5 && atomicAdd(&m->arrived, 1) == 0) {
    m->data = value;  //~
    return;
  }
  atomicMax(&m->data, value);  //~
  atomicAdd(&m->arrived, 1);
}
CONTEST(first_maximum, 7, 32)

// Block 1 takes the baton if it is free, and hands it on without a release.
template <bool fixed>
__global__ void baton(Memory* m) {
  if (threadIdx.x != 0) return;
  if (me() == 1 && atomicCAS(&m->lock, 0, 2) == 0) {
    m->data = 1;  //~
    if (fixed) __threadfence();
    atomicExch(&m->lock, 1);
    return;
  }
  if (me() != 0 || atomicCAS(&m->lock, 0, 1) == 0) return;
  while (read(&m->lock) == 2) {
  }
  __threadfence();
  m->result = m->data;  //~
}
CONTEST(baton, 2, 32)

// Work is handed out by a counter; the block with data item 2 asks for it before it is there.
template <bool fixed>
__global__ void work_stealing(Memory* m) {
  if (threadIdx.x != 0) return;
  if (me() == 0) {
    for (int i = 0; i < 4; ++i) m->slot[i] = 10 * i;  //~
    __threadfence();
    atomicExch(&m->serving, 4);
    return;
  }
  const int item = atomicAdd(&m->ticket, 1);
  const bool is_rash = !fixed && item == 0 && me() == 2;
  while (!is_rash && read(&m->serving) <= item) {
  }
  __threadfence();
  m->slot[8 + item] = m->slot[item];  //~
}
CONTEST(work_stealing, 4, 32)

#ifndef CONTENDERS_WITHOUT_MAIN
int main(int count, char** words) { return main_of_contests(count, words); }
#endif
