// The last block to finish adds up what all have written, as it learns from a counter with
// release and acquire order.
// MUTANT: the counter is relaxed, so it orders nothing.
// expect: data-race
#include <cuda/atomic>

#include "check.hpp"

constexpr int kBlocks = 6;

__global__ void sum_of_blocks(const int* data, int* of_block, int* finished, int* sum) {
  if (threadIdx.x != 0) return;
  int total = 0;
  for (int i = 0; i < 8; ++i) total += data[8 * blockIdx.x + i];
  of_block[blockIdx.x] = total;  //~
#ifdef MUTANT
  constexpr auto kOrder = cuda::memory_order_relaxed;
#else
  constexpr auto kOrder = cuda::memory_order_acq_rel;
#endif
  cuda::atomic_ref<int, cuda::thread_scope_device> counter(*finished);
  if (counter.fetch_add(1, kOrder) != kBlocks - 1) return;
  int all = 0;
  for (int i = 0; i < kBlocks; ++i) all += of_block[i];  //~
  *sum = all;
}

int main() {
  int in[8 * kBlocks], out = 0, expected = 0;
  for (int i = 0; i < 8 * kBlocks; ++i) expected += in[i] = i * 31 % 19;
  int *data, *of_block, *finished, *sum;
  require(cudaMalloc(&data, sizeof in));
  require(cudaMalloc(&of_block, kBlocks * sizeof(int)));
  require(cudaMalloc(&finished, sizeof(int)));
  require(cudaMalloc(&sum, sizeof(int)));
  require(cudaMemset(finished, 0, sizeof(int)));
  require(cudaMemcpy(data, in, sizeof in, cudaMemcpyHostToDevice));
  sum_of_blocks<<<kBlocks, 32>>>(data, of_block, finished, sum);
  require(cudaMemcpy(&out, sum, sizeof out, cudaMemcpyDeviceToHost));
  for (int* memory : {data, of_block, finished, sum}) require(cudaFree(memory));
  return verdict(out == expected);
}
