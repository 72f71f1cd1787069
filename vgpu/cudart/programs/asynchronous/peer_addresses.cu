// The blocks of a cluster find each other by bit 24 of an address in shared memory, the lowest bit
// of the rank: each even block sums what its peer wrote, and both signal at its mbarrier.
// arch: compute_90
// MUTANT: the even block does not wait for its peer's signal.
// expect: data-race
#include <cooperative_groups.h>

#include "check.hpp"

namespace cg = cooperative_groups;

constexpr int kThreads = 64, kClusters = 3, kBlocks = 4;
constexpr unsigned kPeerBit = 1u << 24;

__device__ unsigned address_of(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__device__ bool is_complete(unsigned barrier) {
  unsigned complete;
  asm volatile(
      "{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0;\n"
      "selp.u32 %0, 1, 0, p; }"
      : "=r"(complete)
      : "r"(barrier)
      : "memory");
  return complete != 0;
}

__global__ void __cluster_dims__(kBlocks, 1, 1)
    sum_pairs(const int* values, int* sums, unsigned* ranks) {
  __shared__ int own[kThreads];
  __shared__ alignas(8) unsigned long long arrived;
  const cg::cluster_group cluster = cg::this_cluster();
  const unsigned t = threadIdx.x, barrier = address_of(&arrived), place = address_of(&own[t]);
  own[t] = 0;
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(2 * kThreads));
    asm volatile("fence.mbarrier_init.release.cluster;");
    ranks[blockIdx.x] = place >> 24;
  }
  cluster.sync();
  own[t] = values[blockIdx.x * kThreads + t];  //~
  asm volatile(
      "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(barrier & ~kPeerBit)
      : "memory");
  if (cluster.block_rank() % 2 == 0) {
#ifndef MUTANT
    while (!is_complete(barrier)) {
    }
#endif
    int of_peer;
    asm volatile("ld.shared::cluster.s32 %0, [%1];"
                 : "=r"(of_peer)
                 : "r"(place ^ kPeerBit)  //~
                 : "memory");
    // A generic address has the bit, too.
    const auto flipped = reinterpret_cast<unsigned long long>(&own[t]) ^ kPeerBit;
    const int again = *reinterpret_cast<const int*>(flipped);  //~
    sums[blockIdx.x / 2 * kThreads + t] = of_peer == again ? own[t] + of_peer : -1;
  }
  cluster.sync();  // the peer's memory is there until it was read
}

int main() {
  constexpr int kAll = kClusters * kBlocks;
  Buffer<int> values(kAll * kThreads), sums(kAll / 2 * kThreads);
  Buffer<unsigned> ranks(kAll);
  for (int i = 0; i < kAll * kThreads; ++i) values[i] = i * i % 1009;
  sum_pairs<<<kAll, kThreads>>>(values, sums, ranks);
  finish();
  bool is_right = true;
  for (int i = 0; i < kAll / 2 * kThreads; ++i) {
    const int first = i / kThreads * 2 * kThreads + i % kThreads;
    is_right &= sums[i] == values[first] + values[first + kThreads];
  }
  for (int block = 0; block < kAll; ++block) is_right &= ranks[block] == unsigned(block % kBlocks);
  return verdict(is_right);
}
