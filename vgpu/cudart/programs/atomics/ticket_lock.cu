// A fair lock of tickets that one thread a block takes, and a sequence lock for readers.
// MUTANT: the lock is given back without a release.
// expect: data-race
#include "check.hpp"

struct Lock {
  unsigned next, serving;
};

__device__ void acquire(Lock* lock) {
  const unsigned ticket = atomicAdd(&lock->next, 1);
  while (atomicAdd(&lock->serving, 0) != ticket) __nanosleep(20);
  __threadfence();
}
__device__ void release(Lock* lock) {
#ifndef MUTANT
  __threadfence();
#endif
  atomicAdd(&lock->serving, 1);
}

__global__ void append(Lock* lock, int* list, int* size) {
  if (threadIdx.x != 0) return;
  for (int i = 0; i < 3; ++i) {
    acquire(lock);
    list[*size] = blockIdx.x;  //~
    *size += 1;                //~
    release(lock);
  }
}

int main() {
  const int blocks = 12;
  Buffer<Lock> lock(1);
  Buffer<int> list(3 * blocks), size(1), counts(blocks);
  append<<<blocks, 32>>>(lock, list, size);
  finish();
  for (const int block : list) ++counts[block];
  bool is_right = size[0] == 3 * blocks;
  for (const int count : counts) is_right &= count == 3;
  return verdict(is_right);
}
