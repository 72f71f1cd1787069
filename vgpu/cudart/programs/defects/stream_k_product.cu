// A product of halves whose work is divided evenly among blocks, also within a tile (stream-K, for
// sm_90a): blocks with a part of a tile's depth add their sums to a workspace, one after the other,
// told by a counter of steps; the block with the last part adds the rest and stores the tile.
//
// A run without an argument is right.  With one it has that defect:
// clang-format off
// arch: compute_90a
// defect no_wait_for_parts: data-race; nothing orders blocks of one kernel launch
// defect wait_not_passed_on: data-race; nothing orders blocks of one kernel launch
// defect told_early: data-race; nothing orders blocks of one kernel launch
// defect told_without_release: data-race; (1)'s thread wrote a flag that was read before (2), but no release (a fence, or a release order) comes between (1) and that write
// defect released_early: data-race; the asynchronous product (1) was not waited for and passed on by its own thread before (2)
// defect no_wait_for_tiles: data-race; the asynchronous product (1) was not waited for and passed on by its own thread before (2)
// clang-format on
#include <cuda_fp16.h>

#include "asynchronous.cuh"

constexpr int kRows = 128, kColumns = 64, kDepth = 320, kSide = 64;  // kSide: of tiles, and steps
constexpr int kSteps = kDepth / kSide, kTiles = kRows / kSide * (kColumns / kSide);
constexpr int kBlocks = 4, kStages = 2, kThreads = 256;  // a warpgroup brings, one multiplies
constexpr std::uint32_t kTileBytes = kSide * kSide * 2;
constexpr std::uint32_t kSharedBytes = kStages * 2 * kTileBytes + 1024;

enum Defect {
  none,
  no_wait_for_parts,
  wait_not_passed_on,
  told_early,
  told_without_release,
  released_early,
  no_wait_for_tiles,
};
const char* const kNames[] = {"",
                              "no_wait_for_parts",
                              "wait_not_passed_on",
                              "told_early",
                              "told_without_release",
                              "released_early",
                              "no_wait_for_tiles"};

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
#define BAR_OF_GROUP() asm volatile("bar.sync 1, 128;" ::: "memory")

__device__ int steps_done(const int* counter) {
  int steps;
  asm volatile("ld.global.acquire.gpu.b32 %0, [%1];" : "=r"(steps) : "l"(counter) : "memory");
  return steps;
}
__device__ void add_relaxed(int* counter, int steps) {
  asm volatile("red.relaxed.gpu.global.add.s32 [%0], %1;" ::"l"(counter), "r"(steps) : "memory");
}

// parts: a tile of sums each; done: steps whose products are there
__global__ void __launch_bounds__(kThreads, 1)
    multiply(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c,
             float* parts, int* done, int defect) {
  extern __shared__ char memory[];
  __shared__ std::uint64_t objects[2 * kStages];
  const std::uint32_t tiles = (ADDRESS(memory) + 1023) / 1024 * 1024;
  const std::uint32_t full = ADDRESS(objects), empty = full + 8 * kStages;
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < 2 * kStages; ++i) INIT(full + 8 * i, 1);
    DO("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  constexpr int kShare = (kTiles * kSteps + kBlocks - 1) / kBlocks;
  const int begin = blockIdx.x * kShare, end = min(begin + kShare, kTiles * kSteps);
  Ring<kStages> ring;
  if (warp == 0 && is_elected()) {
    for (int work = begin; work < end; ++work, ring.next()) {
      const std::uint32_t here = tiles + ring.stage * 2 * kTileBytes;
      const std::uint32_t brought = full + 8 * ring.stage;
      WAIT(empty + 8 * ring.stage, ring.parity ^ 1);
      EXPECT(brought, 2 * kTileBytes);
      TILE_IN(here, &a, work % kSteps * kSide, work / kSteps * kSide, brought);  //~
      TILE_IN(here + kTileBytes, &b, work % kSteps * kSide, 0, brought);         //~
    }
  } else if (warp >= 4) {
    const int t = threadIdx.x % 128, lane = t % 32;
    for (int work = begin; work < end;) {
      const int tile = work / kSteps, from = work % kSteps;
      const int to = min(kSteps, from + end - work);
      float d[32];
      for (int step = from; step < to; ++step, ring.next()) {
        const std::uint32_t here = tiles + ring.stage * 2 * kTileBytes;
        UNLESS(no_wait_for_tiles) WAIT(full + 8 * ring.stage, ring.parity);
        DO("wgmma.fence.sync.aligned;");
        for (int k = 0; k < kSide / 16; ++k) {
          MULTIPLY(d, here + 32 * k, here + kTileBytes + 32 * k, step - from + k);  //~
        }
        DO("wgmma.commit_group.sync.aligned;");
        if (defect == released_early && t == 0) ARRIVE(empty + 8 * ring.stage);
        DO("wgmma.wait_group.sync.aligned 0;");
        if (defect != released_early && t == 0) ARRIVE(empty + 8 * ring.stage);
      }
      work += to - from;
      float* const part = parts + tile * kSide * kSide + t;
      if (from > 0 && defect != no_wait_for_parts) {
        if (t == 0) {
          while (steps_done(done + tile) != from) {
          }
        }
        UNLESS(wait_not_passed_on) BAR_OF_GROUP();
      }
      for (int i = 0; i < 32 && from > 0; ++i) d[i] += part[128 * i];  //~
      if (to < kSteps) {
        if (defect == told_early && t == 0) {
          __threadfence();
          add_relaxed(done + tile, to - from);
        }
        for (int i = 0; i < 32; ++i) part[128 * i] = d[i];  //~
        BAR_OF_GROUP();
        if (defect != told_early && t == 0) {
          UNLESS(told_without_release) __threadfence();
          add_relaxed(done + tile, to - from);
        }
        continue;
      }
      const int row = tile * kSide + warp % 4 * 16 + lane / 4, column = lane % 4 * 2;
      for (int i = 0; i < 32; ++i) {
        c[(row + i / 2 % 2 * 8) * kColumns + column + i / 4 * 8 + i % 2] = d[i];
      }
    }
  }
}

int main(int count, char** arguments) {
  const int defect = defect_of(count, arguments, kNames);
  Buffer<__half> a(kRows * kDepth), b(kColumns * kDepth);
  Buffer<float> c(kRows * kColumns), parts(kTiles * kSide * kSide);
  Buffer<int> done(kTiles);
  for (int i = 0; i < kRows * kDepth; ++i) a[i] = __float2half(i * 7 % 11 - 5);
  for (int i = 0; i < kColumns * kDepth; ++i) b[i] = __float2half(i * 5 % 7 - 3);
  for (int i = 0; i < kTiles; ++i) done[i] = 0;
  const auto map = [](Buffer<__half>& data, int rows) {
    return map_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, data, rows, kDepth, kSide, kSide,
                  CU_TENSOR_MAP_SWIZZLE_128B);
  };
  require(
      cudaFuncSetAttribute(multiply, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  multiply<<<kBlocks, kThreads, kSharedBytes>>>(map(a, kRows), map(b, kColumns), c, parts, done,
                                                defect);
  finish();
  bool is_right = true;
  for (int i = 0; i < kRows * kColumns; ++i) {
    float sum = 0;
    for (int k = 0; k < kDepth; ++k) {
      sum +=
          __half2float(a[i / kColumns * kDepth + k]) * __half2float(b[i % kColumns * kDepth + k]);
    }
    is_right &= c[i] == sum;
  }
  return verdict(is_right);
}
