// A counting semaphore, a latch, a barrier of the grid with a completion, a binary semaphore as
// lock.
// MUTANT: the lock is taken by nobody.
// expect: data-race
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/semaphore>

#include "check.hpp"

using Barrier = cuda::barrier<cuda::thread_scope_device>;
using Lock = cuda::binary_semaphore<cuda::thread_scope_device>;
using Slots = cuda::counting_semaphore<cuda::thread_scope_device, 4>;
using Latch = cuda::latch<cuda::thread_scope_device>;

struct Shared {
  Barrier barrier;
  Lock lock;
  Slots slots;
  Latch latch;
};

__global__ void construct(Shared* shared, int blocks) {
  new (&shared->barrier) Barrier(blocks);
  new (&shared->lock) Lock(1);
  new (&shared->slots) Slots(3);
  new (&shared->latch) Latch(blocks);
}

__global__ void work(Shared* shared, int* list, int* size, int* inside, int* most, int* sums) {
  list[blockIdx.x] = blockIdx.x + 1;
  shared->barrier.arrive_and_wait();
  sums[blockIdx.x] = list[(blockIdx.x + 1) % gridDim.x];
  shared->latch.arrive_and_wait();

#ifndef MUTANT
  shared->lock.acquire();
#endif
  list[gridDim.x + *size] = blockIdx.x;  //~
  *size += 1;                            //~
#ifndef MUTANT
  shared->lock.release();
#endif

  shared->slots.acquire();
  atomicMax(most, atomicAdd(inside, 1) + 1);
  atomicSub(inside, 1);
  shared->slots.release();
}

int main() {
  const int blocks = 8;
  Shared* shared;
  require(cudaMalloc(&shared, sizeof *shared));
  Buffer<int> list(2 * blocks), counters(3), sums(blocks);
  construct<<<1, 1>>>(shared, blocks);
  work<<<blocks, 1>>>(shared, list, counters, counters + 1, counters + 2, sums);
  finish();
  require(cudaFree(shared));
  int sum = 0;
  for (int i = 0; i < blocks; ++i) sum += list[blocks + i];
  bool is_right = counters[0] == blocks && counters[1] == 0 && counters[2] <= 3 && sum == 28;
  for (int i = 0; i < blocks; ++i) is_right &= sums[i] == (i + 1) % blocks + 1;
  return verdict(is_right);
}
