// data-race:
#include "planted_program.hpp"

__device__ int lock_word;
__device__ int sum;

__global__ void unlock_by_store(const int* in, int* out) {
  if (threadIdx.x != 0) return;
  while (atomicCAS(&lock_word, 0, 1) != 0) {  //@
  }
  __threadfence();
  sum += in[blockIdx.x];
  out[0] = sum;
  __threadfence();
  lock_word = 0;  //@
}

int main() {
  Buffers buffers;
  unlock_by_store<<<4, 32>>>(buffers.in, buffers.out);
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += input_at(i);
  return buffers.status([&](int i) { return i == 0 ? sum : 0; });
}
