// Blocks that take over the work of blocks which have not begun (clusterlaunchcontrol): scaling a
// vector, as the programming guide shows it, and sums of rows by clusters of two.
// arch: compute_100a
// MUTANT: the answer to a request is overwritten while threads still read the one before.
// expect: data-race
#include <cooperative_groups.h>
#include <cuda/ptx>

#include "check.hpp"

namespace ptx = cuda::ptx;
namespace groups = cooperative_groups;

constexpr int kThreads = 64;

__global__ void scale(float* data, float by, int n, int* taken) {
  __shared__ uint4 answer;
  __shared__ uint64_t answered;
  unsigned phase = 0;
  if (threadIdx.x == 0) ptx::mbarrier_init(&answered, 1);
  int block = blockIdx.x;
  while (true) {
#ifdef MUTANT
    if (phase == 0 && block == static_cast<int>(blockIdx.x)) __syncthreads();
#else
    __syncthreads();
#endif
    if (threadIdx.x == 0) {
      ptx::fence_proxy_async_generic_sync_restrict(ptx::sem_acquire, ptx::space_cluster,
                                                   ptx::scope_cluster);
      ptx::clusterlaunchcontrol_try_cancel(&answer, &answered);  //~
      ptx::mbarrier_arrive_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &answered,
                                     sizeof answer);
    }
    const int i = block * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= by;
    while (
        !ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cta, &answered, phase)) {  //~
    }
    phase ^= 1;
    const uint4 got = answer;  //~
    if (!ptx::clusterlaunchcontrol_query_cancel_is_canceled(got)) break;
    block = ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_x<int>(got);
    if (threadIdx.x == 0) atomicAdd(taken, 1);
    ptx::fence_proxy_async_generic_sync_restrict(ptx::sem_release, ptx::space_shared,
                                                 ptx::scope_cluster);
  }
}

// Each block of a cluster sums half of a row; the answer goes to both.
__global__ void __cluster_dims__(2, 1, 1) sum_rows(const int* rows, int columns, int* sums) {
  __shared__ uint4 answer;
  __shared__ uint64_t answered;
  const groups::cluster_group cluster = groups::this_cluster();
  unsigned phase = 0;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&answered, 1);
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
  }
  int row = blockIdx.x / 2, layer = blockIdx.y;
  while (true) {
    cluster.sync();
    if (threadIdx.x == 0) {
      ptx::mbarrier_arrive_expect_tx(ptx::sem_relaxed, ptx::scope_cta, ptx::space_shared, &answered,
                                     sizeof answer);
    }
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
      ptx::fence_proxy_async_generic_sync_restrict(ptx::sem_acquire, ptx::space_cluster,
                                                   ptx::scope_cluster);
      ptx::clusterlaunchcontrol_try_cancel_multicast(&answer, &answered);
    }
    int sum = 0;
    const int half = columns / 2, number = layer * (gridDim.x / 2) + row;
    for (int i = threadIdx.x; i < half; i += blockDim.x) {
      sum += rows[number * columns + cluster.block_rank() * half + i];
    }
    atomicAdd(&sums[number], sum);
    while (!ptx::mbarrier_try_wait_parity(ptx::sem_acquire, ptx::scope_cluster, &answered, phase)) {
    }
    phase ^= 1;
    const uint4 got = answer;
    if (!ptx::clusterlaunchcontrol_query_cancel_is_canceled(got)) break;
    row = ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_x<int>(got) / 2;
    layer = ptx::clusterlaunchcontrol_query_cancel_get_first_ctaid_y<int>(got);
    ptx::fence_proxy_async_generic_sync_restrict(ptx::sem_release, ptx::space_shared,
                                                 ptx::scope_cluster);
  }
  cluster.sync();
}

bool scales() {
  constexpr int kSize = 50 * kThreads - 3;
  Buffer<float> data(kSize);
  Buffer<int> taken(1);
  for (int i = 0; i < kSize; ++i) data[i] = static_cast<float>(i);
  scale<<<50, kThreads>>>(data, 3, kSize, taken);
  finish();
  bool is_right = taken[0] >= 0 && taken[0] < 50;
  for (int i = 0; i < kSize; ++i) is_right &= data[i] == static_cast<float>(3 * i);
  return is_right;
}

bool sums() {
  constexpr int kRows = 12, kLayers = 3, kColumns = 128;
  Buffer<int> rows(kRows * kLayers * kColumns), sums(kRows * kLayers);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int>(i * i % 101);
  sum_rows<<<dim3(2 * kRows, kLayers), kThreads>>>(rows, kColumns, sums);
  finish();
  bool is_right = true;
  for (int row = 0; row < kRows * kLayers; ++row) {
    int sum = 0;
    for (int i = 0; i < kColumns; ++i) sum += rows[row * kColumns + i];
    is_right &= sums[row] == sum;
  }
  return is_right;
}

int main() { return verdict(scales() && sums()); }
