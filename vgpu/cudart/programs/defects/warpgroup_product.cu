// A product of halves by clusters of two blocks, as libraries for sm_90a write it: a warp brings
// tiles of both matrices through a ring of stages, those of b for both blocks; two warpgroups
// multiply; results leave through shared memory; each cluster takes one tile after the other.
//
// A run without an argument is right.  With one it has that defect:
// clang-format off
// arch: compute_90a
// defect no_wait_for_tiles: data-race; the asynchronous product (1) was not waited for and passed on by its own thread before (2)
// defect wrong_parity: deadlock; no thread of the launch can go on, whoever runs first: (1) 1024 threads of 4 blocks wait for the mbarrier objects[0], 8 bytes, which has 0 of 1 arrivals; (2) 4 threads of 4 blocks wait for the mbarrier objects[3], 8 bytes, which has 0 of 4 arrivals; (3) 124 threads of 4 blocks wait for lanes 0x00000001 of the same warp; (4) 384 threads of 4 blocks wait at the barrier of the cluster, at which 192 of 768 threads have arrived
// defect wrong_stage: data-race; no thread has waited for the phase of the mbarrier that counts the asynchronous copy (1) before (2)
// defect released_early: data-race; the asynchronous product (1) was not waited for and passed on by its own thread before (2)
// defect released_here_only: deadlock; no thread of the launch can go on, whoever runs first: (1) 1024 threads of 4 blocks wait for the mbarrier objects[0], 8 bytes, which has 0 of 1 arrivals; (2) 4 threads of 4 blocks wait for the mbarrier objects[3], 8 bytes, which has 2 of 4 arrivals; (3) 124 threads of 4 blocks wait for lanes 0x00000001 of the same warp; (4) 384 threads of 4 blocks wait at the barrier of the cluster, at which 192 of 768 threads have arrived
// defect no_proxy_fence: data-race; no fence.proxy.async comes between (1) and the bulk copy (2), which need not see what (1) has written
// defect too_few_bytes: data-race; a thread has waited for the phase of the mbarrier that counts the asynchronous copy (1), but nothing orders that wait before (2)
// defect too_many_bytes: deadlock; no thread of the launch can go on, whoever runs first: (1) 1024 threads of 4 blocks wait for the mbarrier objects[0], 8 bytes, which has 1 of 1 arrivals, and lacks 16 bytes of asynchronous copies; (2) 4 threads of 4 blocks wait for the mbarrier objects[3], 8 bytes, which has 0 of 4 arrivals; (3) 124 threads of 4 blocks wait for lanes 0x00000001 of the same warp; (4) 384 threads of 4 blocks wait at the barrier of the cluster, at which 192 of 768 threads have arrived
// defect left_early: use-after-free; block (3,0,0), whose shared memory this is, may have exited: nothing orders (1) before its end, as a last barrier of the cluster does
// clang-format on
#include <cuda_fp16.h>

#include "asynchronous.cuh"

constexpr int kRows = 256, kColumns = 192, kDepth = 320;
constexpr int kTileRows = 128, kTileColumns = 64, kTileDepth = 64;  // of a block
constexpr int kStages = 3, kSteps = kDepth / kTileDepth, kGroups = 2;
constexpr int kThreads = 128 * (kGroups + 1);
constexpr std::uint32_t kBytesOfA = kTileRows * kTileDepth * 2;
constexpr std::uint32_t kBytesOfB = kTileColumns * kTileDepth * 2;
constexpr std::uint32_t kStageBytes = kBytesOfA + kBytesOfB;
constexpr std::uint32_t kResultBytes = 64 * kTileColumns * 2;  // of a warpgroup
constexpr std::uint32_t kSharedBytes = kStages * kStageBytes + kGroups * kResultBytes + 1024;

enum Defect {
  none,
  no_wait_for_tiles,
  wrong_parity,
  wrong_stage,
  released_early,
  released_here_only,
  no_proxy_fence,
  too_few_bytes,
  too_many_bytes,
  left_early,
};
const char* const kNames[] = {"",
                              "no_wait_for_tiles",
                              "wrong_parity",
                              "wrong_stage",
                              "released_early",
                              "released_here_only",
                              "no_proxy_fence",
                              "too_few_bytes",
                              "too_many_bytes",
                              "left_early"};

// Rows of 128 bytes, swizzled.
__device__ std::uint64_t descriptor(std::uint32_t tile) {
  return (tile & 0x3ffff) >> 4 | 1ull << 16 | std::uint64_t{1024 >> 4} << 32 | 1ull << 62;
}

#define FOUR(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
#define MULTIPLY(d, a, b, adds)                                                                  \
  asm volatile(                                                                                  \
      "{.reg .pred p; setp.ne.b32 p, %34, 0;\n"                                                  \
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "                                      \
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "   \
      "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, 0, " \
      "0;}"                                                                                      \
      : FOUR(d, 0), FOUR(d, 4), FOUR(d, 8), FOUR(d, 12), FOUR(d, 16), FOUR(d, 20), FOUR(d, 24),  \
        FOUR(d, 28)                                                                              \
      : "l"(descriptor(a)), "l"(descriptor(b)), "r"(adds))

#define STORE_4(address, words)                                                                   \
  asm volatile("stmatrix.sync.aligned.x4.m8n8.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address), \
               "r"(words[0]), "r"(words[1]), "r"(words[2]), "r"(words[3])                         \
               : "memory")

__global__ void __cluster_dims__(2, 1, 1) __launch_bounds__(kThreads, 1)
    multiply(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
             const __grid_constant__ CUtensorMap c, int defect) {
  extern __shared__ char memory[];
  __shared__ std::uint64_t objects[2 * kStages];
  const std::uint32_t tiles = (ADDRESS(memory) + 1023) / 1024 * 1024;
  const std::uint32_t results = tiles + kStages * kStageBytes;
  const std::uint32_t full = ADDRESS(objects), empty = full + 8 * kStages;
  const std::uint32_t rank = cluster_rank();
  const int group = threadIdx.x / 128, warp = threadIdx.x / 32;
  if (warp == 0 && is_elected()) {
    PREFETCH_MAP(&a);
    PREFETCH_MAP(&b);
    for (int stage = 0; stage < kStages; ++stage) {
      INIT(full + 8 * stage, 1);
      INIT(empty + 8 * stage, 2 * kGroups);  // of both blocks
    }
    DO("fence.mbarrier_init.release.cluster;");
  }
  DO("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;");

  // A cluster has two tiles of rows and one of columns.
  constexpr int kTiles = kRows / kTileRows / 2 * (kColumns / kTileColumns);
  const int cluster = blockIdx.x / 2, clusters = gridDim.x / 2;
  Ring<kStages> ring;
  if (group == kGroups) {
    DO("setmaxnreg.dec.sync.aligned.u32 40;");
    if (warp == 4 * kGroups && is_elected()) {
      for (int tile = cluster; tile < kTiles; tile += clusters) {
        const int column = tile * kTileColumns, row = rank * kTileRows;
        for (int step = 0; step < kSteps; ++step, ring.next()) {
          const std::uint32_t here = tiles + ring.stage * kStageBytes;
          const std::uint32_t brought = full + 8 * ring.stage;
          const std::uint32_t parity = ring.parity ^ (defect == wrong_parity ? 0 : 1);
          WAIT(empty + 8 * ring.stage, parity);  //~
          EXPECT(brought, kStageBytes + (defect == too_few_bytes    ? -kBytesOfB / 2
                                         : defect == too_many_bytes ? 16
                                                                    : 0));
          TILE_IN(here, &a, step * kTileDepth, row, brought);  //~
          // Half of the columns of b, for both blocks.
          const std::uint32_t half = here + kBytesOfA + rank * (kBytesOfB / 2);
          const int from = column + rank * (kTileColumns / 2);
          TILE_TO_BOTH(half, &b, step * kTileDepth, from, brought);  //~
        }
      }
    }
  } else {
    DO("setmaxnreg.inc.sync.aligned.u32 232;");
    const std::uint32_t result = results + group * kResultBytes;
    for (int tile = cluster; tile < kTiles; tile += clusters) {
      float d[32];
      std::uint32_t before = 0;
      for (int step = 0; step < kSteps; ++step, ring.next()) {
        const std::uint32_t stage = defect == wrong_stage ? (ring.stage + 1) % kStages : ring.stage;
        const std::uint32_t here = tiles + stage * kStageBytes;
        const std::uint32_t brought = full + 8 * ring.stage;
        UNLESS(no_wait_for_tiles) WAIT(brought, ring.parity);  //~
        DO("wgmma.fence.sync.aligned;");
        for (int k = 0; k < kTileDepth / 16; ++k) {
          const std::uint32_t from_a = here + group * (kBytesOfA / 2) + 32 * k;
          MULTIPLY(d, from_a, here + kBytesOfA + 32 * k, step + k);  //~
        }
        DO("wgmma.commit_group.sync.aligned;");
        // One group stays in flight: the stage before is free.
        DO("wgmma.wait_group.sync.aligned 1;");
        IF(released_early) before = ring.stage;
        if (threadIdx.x % 128 < 2 && (step > 0 || defect == released_early)) {
          if (defect != released_here_only || threadIdx.x % 128 == rank) {
            ARRIVE_THERE(empty + 8 * before, threadIdx.x % 128);  //~
          }
        }
        before = ring.stage;
      }
      DO("wgmma.wait_group.sync.aligned 0;");
      if (threadIdx.x % 128 < 2 && defect != released_early) {
        ARRIVE_THERE(empty + 8 * before, threadIdx.x % 128);  //~
      }
      // The tile that left before has been read.
      if (threadIdx.x % 128 == 0) DO("cp.async.bulk.wait_group.read 0;");
      asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
      const int lane = threadIdx.x % 32;
      for (int i = 0; i < 8; i += 2) {
        std::uint32_t words[4];
        for (int j = 0; j < 4; ++j) {
          const __half2 pair = __floats2half2_rn(d[4 * i + 2 * j], d[4 * i + 2 * j + 1]);
          std::memcpy(&words[j], &pair, sizeof pair);
        }
        const std::uint32_t row = warp % 4 * 16 + lane % 16, column = (i + lane / 16) * 8;
        STORE_4(result + (row * kTileColumns + column) * 2, words);  //~
      }
      UNLESS(no_proxy_fence) DO("fence.proxy.async.shared::cta;");
      asm volatile("bar.sync %0, 128;" ::"r"(group + 1) : "memory");
      if (threadIdx.x % 128 == 0) {
        TILE_OUT(&c, tile * kTileColumns, rank * kTileRows + group * 64, result);  //~
        DO("cp.async.bulk.commit_group;");
      }
    }
    if (threadIdx.x % 128 == 0) DO("cp.async.bulk.wait_group 0;");
  }
  __syncwarp();  //~
  // Nobody leaves while the other block brings tiles here, or arrives at mbarriers here.
  UNLESS(left_early) {
    DO("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;");  //~
  }
}

int main(int count, char** arguments) {
  const int defect = defect_of(count, arguments, kNames);
  Buffer<__half> a(kRows * kDepth), b(kColumns * kDepth), c(kRows * kColumns);
  for (int i = 0; i < kRows * kDepth; ++i) a[i] = __float2half(i * 7 % 11 - 5);
  for (int i = 0; i < kColumns * kDepth; ++i) b[i] = __float2half(i * 5 % 7 - 3);
  const auto map = [](Buffer<__half>& data, int rows, int columns, int box_rows, int box_columns,
                      CUtensorMapSwizzle swizzle) {
    return map_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, data, rows, columns, box_rows, box_columns,
                  swizzle);
  };
  const CUtensorMap map_a =
      map(a, kRows, kDepth, kTileRows, kTileDepth, CU_TENSOR_MAP_SWIZZLE_128B);
  const CUtensorMap map_b =
      map(b, kColumns, kDepth, kTileColumns / 2, kTileDepth, CU_TENSOR_MAP_SWIZZLE_128B);
  const CUtensorMap map_c = map(c, kRows, kColumns, 64, kTileColumns, CU_TENSOR_MAP_SWIZZLE_NONE);
  require(
      cudaFuncSetAttribute(multiply, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  multiply<<<4, kThreads, kSharedBytes>>>(map_a, map_b, map_c, defect);
  finish();
  bool is_right = true;
  for (int i = 0; i < kRows * kColumns; ++i) {
    float sum = 0;
    for (int k = 0; k < kDepth; ++k) {
      sum +=
          __half2float(a[i / kColumns * kDepth + k]) * __half2float(b[i % kColumns * kDepth + k]);
    }
    is_right &= __half2float(c[i]) == sum;
  }
  return verdict(is_right);
}
