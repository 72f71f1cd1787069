// Sum of an array in one launch, by threads of all blocks: every thread stages its part in memory
// and fences, then one of the block takes a ticket; of the last block, all threads fence after the
// barrier and add up what all blocks have staged.
// MUTANT: the staged parts are not fenced.
// expect: data-race
#include "check.hpp"

constexpr int kThreads = 128, kBlocks = 8;

__device__ bool is_last_block(int* tickets) {
  __shared__ bool is_last;
  __syncthreads();
  if (threadIdx.x == 0) is_last = atomicAdd(tickets, 1) == gridDim.x - 1;
  __syncthreads();
  return is_last;
}

__global__ void sum(const int* in, int n, int* staged, int* tickets, int* out) {
  const int first = blockIdx.x * blockDim.x + threadIdx.x, step = gridDim.x * blockDim.x;
  int part = 0;
  for (int i = first; i < n; i += step) part += in[i];
  staged[first] = part;  //~
#ifndef MUTANT
  __threadfence();
#endif
  if (!is_last_block(tickets)) return;
  __threadfence();
  part = 0;
  for (int i = threadIdx.x; i < step; i += blockDim.x) part += staged[i];  //~
  atomicAdd(out, part);
}

int main() {
  Buffer<int> in(10000, 3), staged(kThreads * kBlocks), tickets(1), out(1);
  sum<<<kBlocks, kThreads>>>(in, 10000, staged, tickets, out);
  finish();
  return verdict(out[0] == 30000);
}
