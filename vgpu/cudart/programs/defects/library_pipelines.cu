// One sum of tiles written three times with the vendor's C++ library: a ring of bulk copies by
// cuda::ptx, a ring of cuda::barrier between warps that bring and warps that add, and
// cuda::pipeline of a block whose threads do both.
//
// A run without an argument is right.  With one it has that defect:
// clang-format off
// defect ptx_no_wait: data-race; no barrier orders (1) and (2)
// defect ptx_wrong_parity: data-race; no barrier orders (1) and (2)
// defect ptx_wrong_stage: data-race; no thread has waited for the phase of the mbarrier that counts the asynchronous copy (1) before (2)
// defect ptx_no_barrier: data-race; lanes of one warp are not ordered without __syncwarp()
// defect ptx_too_many_bytes: deadlock; no thread of the launch can go on, whoever runs first: (1) 128 threads wait for the mbarrier full[0], 8 bytes, which has 1 of 1 arrivals, and lacks 16 bytes of asynchronous copies
// defect ptx_no_proxy_fence: data-race; no fence.proxy.async comes between (1) and the bulk copy (2), which need not see what (1) has written
// defect barrier_no_wait_for_full: data-race; (1)'s thread wrote a flag that was read before (2), but no release (a fence, or a release order) comes between (1) and that write
// defect barrier_no_wait_for_empty: data-race; the asynchronous copy (1) has not been waited for before (2)
// defect barrier_wrong_stage: data-race; the asynchronous copy (1) was not waited for and passed on by its own thread before (2)
// defect barrier_wrong_count: deadlock; no thread of the launch can go on, whoever runs first: (1) 64 threads wait for the mbarrier empty[0], 8 bytes, which has 64 of 128 arrivals; (2) 64 threads wait for the mbarrier full[0], 8 bytes, which has 128 of 129 arrivals
// defect barrier_copy_not_bound: data-race; no barrier orders (1) and (2)
// defect pipeline_no_wait: data-race; (1)'s thread wrote a flag that was read before (2), but no release (a fence, or a release order) comes between (1) and that write
// defect pipeline_wrong_stage: data-race; the asynchronous copy (1) was not waited for and passed on by its own thread before (2)
// defect pipeline_released_early: data-race; no barrier orders (1) and (2)
// clang-format on
#include <cooperative_groups.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/ptx>

#include <cstring>

#include "../check.hpp"

#define IF(name) if (defect == name)
#define UNLESS(name) if (defect != name)

namespace ptx = cuda::ptx;
namespace groups = cooperative_groups;
using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

constexpr int kTile = 128, kTiles = 9, kStages = 3, kThreads = 128;

enum Defect {
  none,
  ptx_no_wait,
  ptx_wrong_parity,
  ptx_wrong_stage,
  ptx_no_barrier,
  ptx_too_many_bytes,
  ptx_no_proxy_fence,
  barrier_no_wait_for_full,
  barrier_no_wait_for_empty,
  barrier_wrong_stage,
  barrier_wrong_count,
  barrier_copy_not_bound,
  pipeline_no_wait,
  pipeline_wrong_stage,
  pipeline_released_early,
};
const char* const kNames[] = {"",
                              "ptx_no_wait",
                              "ptx_wrong_parity",
                              "ptx_wrong_stage",
                              "ptx_no_barrier",
                              "ptx_too_many_bytes",
                              "ptx_no_proxy_fence",
                              "barrier_no_wait_for_full",
                              "barrier_no_wait_for_empty",
                              "barrier_wrong_stage",
                              "barrier_wrong_count",
                              "barrier_copy_not_bound",
                              "pipeline_no_wait",
                              "pipeline_wrong_stage",
                              "pipeline_released_early"};

// One thread brings tiles in bulk; the sums leave in bulk, too.
__global__ void by_ptx(const int* data, int* sums, int defect) {
  __shared__ alignas(16) int tiles[kStages][kTile];
  __shared__ alignas(16) int result[kTile];
  __shared__ std::uint64_t full[kStages];
  const int t = threadIdx.x;
  if (t == 0) {
    for (std::uint64_t& each : full) ptx::mbarrier_init(&each, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  __syncthreads();
  const auto bring = [&](int tile) {
    const unsigned bytes = kTile * sizeof(int);
    const int stage = tile % kStages;
    ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                   &full[stage], bytes + (defect == ptx_too_many_bytes ? 16 : 0));
    const int* const from = data + tile * kTile;
    int* const to = tiles[stage];
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, to, from, bytes, &full[stage]);  //~
  };
  for (int tile = 0; t == 0 && tile < kStages - 1; ++tile) bring(tile);
  int sum = 0;
  for (int tile = 0; tile < kTiles; ++tile) {
    if (t == 0 && tile + kStages - 1 < kTiles) bring(tile + kStages - 1);
    const int stage = tile % kStages;
    const unsigned parity = tile / kStages % 2 ^ (defect == ptx_wrong_parity ? 1 : 0);
    UNLESS(ptx_no_wait) {
      while (!ptx::mbarrier_try_wait_parity(&full[stage], parity)) {  //~ ptx_too_many_bytes
      }
    }
    sum += tiles[(stage + (defect == ptx_wrong_stage ? 1 : 0)) % kStages][kTile - 1 - t];  //~
    UNLESS(ptx_no_barrier) __syncthreads();  //~ ptx_too_many_bytes
  }
  result[t] = sum;  //~
  UNLESS(ptx_no_proxy_fence) ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (t == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, sums, result, sizeof result);  //~
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}

// The first half of the threads brings, the second adds.
__global__ void by_barriers(const int* data, int* sums, int defect) {
  __shared__ alignas(16) int tiles[kStages][kTile];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ BlockBarrier full[kStages], empty[kStages];
  constexpr int kHalf = kThreads / 2;
  const int t = threadIdx.x;
  if (t == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      init(&full[stage], kThreads + (defect == barrier_wrong_count ? 1 : 0));
      init(&empty[stage], kThreads);
    }
  }
  __syncthreads();
  if (t < kHalf) {
    for (int tile = 0; tile < kTiles; ++tile) {
      const int stage = tile % kStages;
      UNLESS(barrier_no_wait_for_empty) empty[stage].arrive_and_wait();  //~ barrier_wrong_count
      const int* const from = data + tile * kTile + 2 * t;
      IF(barrier_copy_not_bound) {
        tiles[stage][2 * t] = from[0];
        static_cast<void>(full[stage].arrive());
        tiles[stage][2 * t + 1] = from[1];  //~
      }
      else {
        int* const to = &tiles[stage][2 * t];
        cuda::memcpy_async(to, from, cuda::aligned_size_t<8>(8), full[stage]);  //~
        static_cast<void>(full[stage].arrive());
      }
    }
  } else {
    int here[2] = {};
    for (BlockBarrier& each : empty) static_cast<void>(each.arrive());
    for (int tile = 0; tile < kTiles; ++tile) {
      const int stage = tile % kStages;
      IF(barrier_no_wait_for_full) { static_cast<void>(full[stage].arrive()); }
      else {
        full[stage].arrive_and_wait();  //~ barrier_wrong_count
      }
      const int read = (stage + (defect == barrier_wrong_stage ? 1 : 0)) % kStages;
      for (int i = 0; i < 2; ++i) here[i] += tiles[read][kTile - 1 - (2 * (t - kHalf) + i)];  //~
      static_cast<void>(empty[stage].arrive());
    }
    for (int i = 0; i < 2; ++i) sums[2 * (t - kHalf) + i] = here[i];
  }
}

__global__ void by_pipeline(const int* data, int* sums, int defect) {
  __shared__ alignas(16) int tiles[kStages][kTile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, kStages> state;
  const groups::thread_block block = groups::this_thread_block();
  auto pipeline = cuda::make_pipeline(block, &state);
  const auto bring = [&](int tile) {
    pipeline.producer_acquire();
    if (tile < kTiles) {
      const cuda::aligned_size_t<16> bytes(kTile * sizeof(int));
      const int* const from = data + tile * kTile;
      cuda::memcpy_async(block, tiles[tile % kStages], from, bytes, pipeline);  //~
    }
    pipeline.producer_commit();
  };
  for (int tile = 0; tile < kStages - 1; ++tile) bring(tile);
  int sum = 0;
  for (int tile = 0; tile < kTiles; ++tile) {
    bring(tile + kStages - 1);
    UNLESS(pipeline_no_wait) pipeline.consumer_wait();
    IF(pipeline_released_early) pipeline.consumer_release();
    const int stage = (tile + (defect == pipeline_wrong_stage ? 1 : 0)) % kStages;
    sum += tiles[stage][kTile - 1 - threadIdx.x];  //~
    UNLESS(pipeline_released_early) pipeline.consumer_release();
  }
  sums[threadIdx.x] = sum;
}

int main(int count, char** arguments) {
  int defect = none;
  for (int i = 1; count > 1 && i <= pipeline_released_early; ++i) {
    if (std::strcmp(arguments[1], kNames[i]) == 0) defect = i;
  }
  Buffer<int> data(kTiles * kTile), sums(kTile);
  for (int i = 0; i < kTiles * kTile; ++i) data[i] = i * 7 % 101;
  bool is_right = true;
  void (*const kernels[])(const int*, int*, int) = {by_ptx, by_barriers, by_pipeline};
  const int first = defect < barrier_no_wait_for_full ? 0 : defect < pipeline_no_wait ? 1 : 2;
  for (int i = first; i < (defect == none ? 3 : first + 1); ++i) {
    kernels[i]<<<1, kThreads>>>(data, sums, defect);
    finish();
    is_right &= are_sums_of_tiles(sums, data);
  }
  return verdict(is_right);
}
