// cuda::pipeline with a warp that produces and warps that consume, three stages.
// arch: compute_80
// MUTANT: a consumer gives its stage back before it has read it.
// expect: data-race
#include <cooperative_groups.h>
#include <cuda/pipeline>

#include "check.hpp"

constexpr int kStages = 3, kTile = 64, kTiles = 8;

__global__ void sum_tiles(const int* data, int* sums) {
  __shared__ int tiles[kStages][kTile];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const auto block = cooperative_groups::this_thread_block();
  const bool produces = block.thread_rank() < 32;
  auto pipeline = cuda::make_pipeline(
      block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
  int sum = 0;
  for (int tile = 0; tile < kTiles; ++tile) {
    int* const stage = tiles[tile % kStages];
    if (produces) {
      pipeline.producer_acquire();
      for (int i = threadIdx.x; i < kTile; i += 32) {
        cuda::memcpy_async(stage + i, data + tile * kTile + i, sizeof(int), pipeline);  //~
      }
      pipeline.producer_commit();
    } else {
      pipeline.consumer_wait();
#ifdef MUTANT
      pipeline.consumer_release();
      sum += stage[kTile - 1 - (threadIdx.x - 32)];  //~
#else
      sum += stage[kTile - 1 - (threadIdx.x - 32)];
      pipeline.consumer_release();
#endif
    }
  }
  if (!produces) sums[threadIdx.x - 32] = sum;
}

int main() {
  Buffer<int> data(kTiles * kTile), sums(kTile);
  for (int i = 0; i < kTiles * kTile; ++i) data[i] = i % 101;
  sum_tiles<<<1, 32 + kTile>>>(data, sums);
  finish();
  return verdict(are_sums_of_tiles(sums, data));
}
