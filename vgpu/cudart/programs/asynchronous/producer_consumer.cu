// A producer warp and consumer warps with mbarriers by PTX in line: full and empty stages,
// parities, transactions of bulk copies, as persistent kernels do.
// arch: compute_90
// MUTANT: the producer does not wait until a stage is empty.
// expect: data-race, deadlock
#include "check.hpp"

constexpr int kStages = 2, kTiles = 7, kTile = 128;
using Object = unsigned long long;

__device__ unsigned address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
__device__ void wait(const Object* object, int parity) {
  unsigned done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, "
        "p; }"
        : "=r"(done)
        : "r"(address(object)), "r"(parity)
        : "memory");
  }
}

__device__ void fetch(unsigned to, const int* from, unsigned object) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 512, [%2];" ::
          "r"(to),
      "l"(from), "r"(object)  //~
      : "memory");
}

__global__ void sum_tiles(const int* data, int* sums) {
  __shared__ alignas(16) int tiles[kStages][kTile];
  __shared__ Object full[kStages], empty[kStages];
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address(full + i)));
      asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(address(empty + i)), "r"(kTile));
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == kTile) {
    for (int tile = 0; tile < kTiles; ++tile) {
      const int stage = tile % kStages;
#ifndef MUTANT
      if (tile >= kStages) wait(empty + stage, (tile / kStages - 1) % 2);
#endif
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address(full + stage)),
                   "r"(kTile * 4)
                   : "memory");
      const unsigned to = address(tiles[stage]), object = address(full + stage);
      const int* const from = data + tile * kTile;
      fetch(to, from, object);  //~
    }
  } else if (threadIdx.x < kTile) {
    int sum = 0;
    for (int tile = 0; tile < kTiles; ++tile) {
      const int stage = tile % kStages;
      wait(full + stage, tile / kStages % 2);
      sum += tiles[stage][kTile - 1 - threadIdx.x];  //~
      asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address(empty + stage)) : "memory");
    }
    sums[threadIdx.x] = sum;
  }
}

int main() {
  Buffer<int> data(kTiles * kTile), sums(kTile);
  for (int i = 0; i < kTiles * kTile; ++i) data[i] = i % 97;
  sum_tiles<<<1, kTile + 32>>>(data, sums);
  finish();
  return verdict(are_sums_of_tiles(sums, data));
}
