// The sum of many tiles, each of which is brought to shared memory while the one before it is
// used: cuda::pipeline with two stages.
// arch: compute_90
// MUTANT: a tile is used without waiting for it.
// expect: data-race, uninitialized-read
#include <cooperative_groups.h>
#include <cuda/pipeline>

#include "check.hpp"

constexpr int kThreads = 64, kTiles = 5;

__global__ void add_tiles(const int* data, int* sums) {
  __shared__ alignas(16) int tiles[2][kThreads];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
  const auto block = cooperative_groups::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const auto fetch = [&](int tile) {
    pipeline.producer_acquire();
    cuda::memcpy_async(block, tiles[tile % 2], data + tile * kThreads,  //~
                       cuda::aligned_size_t<16>(sizeof tiles[0]), pipeline);
    pipeline.producer_commit();
  };
  fetch(0);
  int sum = 0;
  for (int tile = 0; tile < kTiles; ++tile) {
    if (tile + 1 < kTiles) fetch(tile + 1);
#ifndef MUTANT
    pipeline.consumer_wait();
#endif
    sum += tiles[tile % 2][kThreads - 1 - threadIdx.x];  //~
    pipeline.consumer_release();
  }
  sums[threadIdx.x] = sum;
}

int main() {
  int in[kTiles * kThreads], out[kThreads];
  for (int i = 0; i < kTiles * kThreads; ++i) in[i] = 7 * i % 31;
  int *data, *sums;
  require(cudaMalloc(&data, sizeof in));
  require(cudaMalloc(&sums, sizeof out));
  require(cudaMemcpy(data, in, sizeof in, cudaMemcpyHostToDevice));
  add_tiles<<<1, kThreads>>>(data, sums);
  require(cudaMemcpy(out, sums, sizeof out, cudaMemcpyDeviceToHost));
  bool is_right = true;
  for (int i = 0; i < kThreads; ++i) {
    int sum = 0;
    for (int tile = 0; tile < kTiles; ++tile) sum += in[tile * kThreads + kThreads - 1 - i];
    is_right &= out[i] == sum;
  }
  require(cudaFree(sums));
  require(cudaFree(data));
  return verdict(is_right);
}
