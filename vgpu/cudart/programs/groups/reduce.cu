// A block's sum by cooperative groups: tiles of 16 lanes reduce, then one thread adds the tiles.
// MUTANT: the block is not synchronised before the tiles' sums are added.
// expect: data-race, uninitialized-read
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.hpp"

namespace cg = cooperative_groups;

constexpr int kThreads = 96, kTile = 16;

__global__ void sum_block(const int* data, int* sum) {
  __shared__ int of_tile[kThreads / kTile];
  const cg::thread_block block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<kTile>(block);
  const int total = cg::reduce(tile, data[block.thread_rank()], cg::plus<int>());
  if (tile.thread_rank() == 0) of_tile[block.thread_rank() / kTile] = total;  //~
#ifndef MUTANT
  block.sync();
#endif
  if (block.thread_rank() == 0) {
    int all = 0;
    for (int i = 0; i < kThreads / kTile; ++i) all += of_tile[i];  //~
    *sum = all;
  }
}

int main() {
  int in[kThreads], out = 0, expected = 0;
  for (int i = 0; i < kThreads; ++i) expected += in[i] = i * 17 % 23;
  int *data, *sum;
  require(cudaMalloc(&data, sizeof in));
  require(cudaMalloc(&sum, sizeof(int)));
  require(cudaMemcpy(data, in, sizeof in, cudaMemcpyHostToDevice));
  sum_block<<<1, kThreads>>>(data, sum);
  require(cudaMemcpy(&out, sum, sizeof out, cudaMemcpyDeviceToHost));
  require(cudaFree(sum));
  require(cudaFree(data));
  return verdict(out == expected);
}
