// memcpy_async of a group, a whole block and a tile, waited for all or but one; arrivals at the
// block's barrier.
// MUTANT: the copy is not waited for.
// expect: data-race
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <utility>

#include "check.hpp"

namespace cg = cooperative_groups;
constexpr int kThreads = 128, kTiles = 6;

__global__ void sum_tiles(const float* data, float* sums) {
  __shared__ alignas(16) float tiles[2][kThreads];
  const auto block = cg::this_thread_block();
  cg::memcpy_async(block, tiles[0], data, sizeof tiles[0]);  //~
  float sum = 0;
  for (int tile = 0; tile < kTiles; ++tile) {
    if (tile + 1 < kTiles) {
      const unsigned count = kThreads;
      cg::memcpy_async(block, tiles[(tile + 1) % 2], count, data + (tile + 1) * count, count);  //~
#ifndef MUTANT
      cg::wait_prior<1>(block);
#endif
    } else {
      cg::wait(block);
    }
    sum += tiles[tile % 2][kThreads - 1 - block.thread_rank()];  //~
    auto token = block.barrier_arrive();
    block.barrier_wait(std::move(token));
  }
  sums[block.thread_rank()] = sum;
}

int main() {
  Buffer<float> data(kTiles * kThreads), sums(kThreads);
  for (int i = 0; i < kTiles * kThreads; ++i) data[i] = i % 17;
  sum_tiles<<<1, kThreads>>>(data, sums);
  finish();
  bool is_right = true;
  for (int i = 0; i < kThreads; ++i) {
    float sum = 0;
    for (int tile = 0; tile < kTiles; ++tile) sum += data[tile * kThreads + kThreads - 1 - i];
    is_right &= sums[i] == sum;
  }
  return verdict(is_right);
}
