// Copies to all blocks of a cluster, which an mbarrier of each block counts.
#include <cstdint>

#include "vgpu/litmus/async_ptx.hpp"
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;

// A copy to both blocks is counted by an mbarrier of each: a wait there at block scope, the default,
// is for its bytes.
#define COPY_TO_BOTH(shared, global, bytes, object)                                              \
  asm volatile(                                                                                  \
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "    \
      "[%0], [%1], %2, [%3], %4;" ::"r"(ADDRESS_OF(shared)),                                     \
      "l"(__cvta_generic_to_global(global)), "r"(bytes), "r"(ADDRESS_OF(object)),                \
      "h"(static_cast<unsigned short>(3))                                                        \
      : "memory")

// As the vendor's pipelines do, threads of both blocks arrive at block scope when they have read a
// tile, and the thread that copies waits for that before it overwrites the tile.
// expect: clean
__global__ void __cluster_dims__(2, 1, 1) tile_for_both_blocks(const int* tiles, int* out) {
  __shared__ alignas(16) int tile[4];
  __shared__ unsigned long long full, empty;
  unsigned rank, empty_there;
  CLUSTER_RANK(rank);
  if (threadIdx.x == 0) {
    INIT_OBJECT(&full, 1);
    INIT_OBJECT(&empty, 2);
  }
  DO("fence.mbarrier_init.release.cluster;");
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  MAPPED(empty_there, &empty, 0);
  int sum = 0;
  for (int k = 0; k < 3; ++k) {
    if (threadIdx.x == 0) {
      EXPECT(&full, 16);
      if (rank == 0) {
        if (k != 0) WAIT(".shared::cta", &empty, (k - 1) & 1);
        COPY_TO_BOTH(tile, tiles + 4 * k, 16, &full);
      }
    }
    WAIT(".shared::cta", &full, k & 1);
    sum += tile[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(empty_there) : "memory");
    }
  }
  out[blockIdx.x * 4 + threadIdx.x] = sum;
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
}
LITMUS(tile_for_both_blocks) {
  tile_for_both_blocks<<<2, 4>>>(zeroed<int>(12), zeroed<int>(8));
}

// The other block may still read the first tile, or even wait for it.
// expect: data-race shared
// expect: data-race shared note
__global__ void __cluster_dims__(2, 1, 1) tile_overwritten_in_both_blocks(const int* tiles,
                                                                          int* out) {
  __shared__ alignas(16) int tile[4];
  __shared__ unsigned long long full;
  unsigned rank;
  CLUSTER_RANK(rank);
  if (threadIdx.x == 0) INIT_OBJECT(&full, 1);
  DO("fence.mbarrier_init.release.cluster;");
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
  if (threadIdx.x == 0) EXPECT(&full, 16);
  if (rank == 0) COPY_TO_BOTH(tile, tiles, 16, &full);      //~ write
  WAIT(".shared::cta", &full, 0);
  if (rank == 1) out[0] = tile[0];                          //~ read
  if (threadIdx.x == 0) EXPECT(&full, 16);
  if (rank == 0) COPY_TO_BOTH(tile, tiles + 4, 16, &full);  //~ write
  WAIT(".shared::cta", &full, 1);
  DO("barrier.cluster.arrive; barrier.cluster.wait;");
}
LITMUS(tile_overwritten_in_both_blocks) {
  tile_overwritten_in_both_blocks<<<2, 1>>>(zeroed<int>(8), zeroed<int>(1));
}
