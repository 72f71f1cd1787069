// A product of 8-bit floats in blocks of 32 with a scale each, whose sums and scales stand in
// tensor memory (sm_100a): a warp brings tiles and packed scales, one turns the scales in shared
// memory into the order that tcgen05.cp takes, one multiplies, and a warpgroup stores by way of two
// parts of shared memory.  The kernel begins early, while another one still makes the 8-bit floats
// of a.
//
// A run without an argument is right.  With one it has that defect:
// clang-format off
// arch: compute_100a
// defect turned_in_place: data-race; lanes of one warp are not ordered without __syncwarp()
// defect no_fence_for_scales: data-race; no fence.proxy.async comes between (1) and the product (2), which need not see what (1) has written
// defect told_by_one_lane: data-race; no barrier orders (1) and (2)
// defect freed_without_commit: data-race; the asynchronous product (1) was not waited for and passed on by its own thread before (2)
// defect sums_overwritten: data-race; nothing orders the threads of the load (1) and of (2)
// defect began_too_early: data-race; the kernel of (1) lets that of (2) begin early (programmatic dependent launch), and (2) does not come after cudaGridDependencySynchronize()
// clang-format on
#include <cuda_fp8.h>

#include <cmath>
#include <vector>

#include "asynchronous.cuh"

constexpr int kRows = 128, kColumns = 384, kDepth = 128, kSide = 128;  // kSide: of tiles and steps
constexpr int kTiles = kColumns / kSide, kSteps = kDepth / kSide, kBlock = 32;
constexpr int kStages = 2, kParts = 2, kPartColumns = 32;
constexpr int kThreads = 256;
// In tensor memory: two accumulators, and scales of both operands for each stage.
constexpr std::uint32_t kAllColumns = 512, kScales = 2 * kSide;

enum Defect {
  none,
  turned_in_place,
  no_fence_for_scales,
  told_by_one_lane,
  freed_without_commit,
  sums_overwritten,
  began_too_early,
};
const char* const kNames[] = {"",
                              "turned_in_place",
                              "no_fence_for_scales",
                              "told_by_one_lane",
                              "freed_without_commit",
                              "sums_overwritten",
                              "began_too_early"};

struct Tiles {
  std::uint8_t a[kStages][kSide * kSide], b[kStages][kSide * kSide];
  float parts[kParts][kSide * kPartColumns];
  std::uint32_t scales_a[kStages][kSide], scales_b[kStages][kSide];  // four scales each
};
constexpr std::uint32_t kSharedBytes = sizeof(Tiles) + 1024;
constexpr std::uint32_t kStageBytes = 2 * (kSide * kSide + kSide * 4);

// Rows of 128 bytes, swizzled; and eight rows of 16 bytes, not swizzled.
__device__ std::uint64_t descriptor(const void* tile) {
  return (ADDRESS(tile) & 0x3ffff) >> 4 | 1ull << 16 | std::uint64_t{1024 >> 4} << 32 | 1ull << 46 |
         2ull << 61;
}
__device__ std::uint64_t scale_descriptor(const void* scales) {
  return (ADDRESS(scales) & 0x3ffff) >> 4 | std::uint64_t{128 >> 4} << 32 | 1ull << 46;
}

#define COMMIT(object)                                                                            \
  asm volatile(                                                                                   \
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(object) \
      : "memory")
#define COPY_SCALES(to, from) \
  asm volatile("tcgen05.cp.cta_group::1.32x128b.warpx4 [%0], %1;" ::"r"(to), "l"(from) : "memory")
#define MULTIPLY(d, a, b, instruction, scales_a, scales_b, adds)                                 \
  asm volatile(                                                                                  \
      "{.reg .pred p; setp.ne.b32 p, %6, 0;\n"                                                   \
      "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale [%0], %1, %2, %3, [%4], [%5], p;}" :: \
          "r"(d),                                                                                \
      "l"(a), "l"(b), "r"(instruction), "r"(scales_a), "r"(scales_b), "r"(adds)                  \
      : "memory")
#define LOAD_4(v, address)                                                     \
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x4.b32 {%0, %1, %2, %3}, [%4];" \
               : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)                    \
               : "r"(address))
#define BAR_OF_GROUP() asm volatile("bar.sync 1, 128;" ::: "memory")

__global__ void quantize(const float* from, std::uint8_t* to, int count) {
  cudaTriggerProgrammaticLaunchCompletion();
  for (int i = threadIdx.x; i < count; i += blockDim.x) {
    to[i] = __nv_cvt_float_to_fp8(from[i], __NV_SATFINITE, __NV_E4M3);  //~ began_too_early
  }
}

// Scales of 128 rows: of row 32 * i + lane, word i of the lane's 16 bytes.
__device__ void turn(std::uint32_t* scales, int lane, int defect) {
  std::uint32_t words[4];
  for (int i = 0; i < 4; ++i) words[i] = scales[(i ^ lane / 8) * 32 + lane];  //~
  UNLESS(turned_in_place) __syncwarp();
  for (int i = 0; i < 4; ++i) scales[lane * 4 + (i ^ lane / 8)] = words[i];  //~
}

__global__ void __launch_bounds__(kThreads, 1)
    multiply(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,
             const __grid_constant__ CUtensorMap scales_a,
             const __grid_constant__ CUtensorMap scales_b, const __grid_constant__ CUtensorMap out,
             int defect) {
  extern __shared__ char memory[];
  __shared__ std::uint64_t objects[3 * kStages + 4];
  __shared__ std::uint32_t place;
  Tiles& tiles = *reinterpret_cast<Tiles*>(memory + (1024 - ADDRESS(memory) % 1024) % 1024);
  const std::uint32_t full = ADDRESS(objects), empty = full + 8 * kStages;
  const std::uint32_t turned = empty + 8 * kStages, summed = turned + 8 * kStages;
  const std::uint32_t free = summed + 16;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      INIT(full + 8 * i, 1);
      INIT(empty + 8 * i, 1);
      INIT(turned + 8 * i, 32);
    }
    for (int i = 0; i < 2; ++i) {
      INIT(summed + 8 * i, 1);
      INIT(free + 8 * i, 128);
    }
    DO("fence.mbarrier_init.release.cluster;");
  }
  if (warp == 2) {
    asm volatile(
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(ADDRESS(&place)),
        "r"(kAllColumns)
        : "memory");
  }
  DO("tcgen05.fence::before_thread_sync;");
  __syncthreads();
  DO("tcgen05.fence::after_thread_sync;");
  UNLESS(began_too_early) cudaGridDependencySynchronize();
  const std::uint32_t tensor = place;
  Ring<kStages> ring;
  if (warp == 0 && is_elected()) {
    for (int work = 0; work < kTiles * kSteps; ++work, ring.next()) {
      const int row = work / kSteps * kSide, step = work % kSteps, stage = ring.stage;
      const std::uint32_t brought = full + 8 * stage;
      WAIT(empty + 8 * stage, ring.parity ^ 1);
      TILE_IN(ADDRESS(tiles.a[stage]), &a, step * kSide, 0, brought);          //~
      TILE_IN(ADDRESS(tiles.b[stage]), &b, step * kSide, row, brought);        //~
      TILE_IN(ADDRESS(tiles.scales_a[stage]), &scales_a, 0, step, brought);    //~
      TILE_IN(ADDRESS(tiles.scales_b[stage]), &scales_b, row, step, brought);  //~
      EXPECT(brought, kStageBytes);
    }
  } else if (warp == 1 && is_elected()) {
    Ring<2> sums;
    for (int tile = 0; tile < kTiles; ++tile, sums.next()) {
      UNLESS(sums_overwritten) WAIT(free + 8 * sums.stage, sums.parity ^ 1);
      for (int step = 0; step < kSteps; ++step, ring.next()) {
        const int stage = ring.stage;
        const std::uint32_t of_a = tensor + kScales + 8 * stage, of_b = of_a + 4;
        WAIT(turned + 8 * stage, ring.parity);
        DO("tcgen05.fence::after_thread_sync;");
        COPY_SCALES(of_a, scale_descriptor(tiles.scales_a[stage]));  //~
        COPY_SCALES(of_b, scale_descriptor(tiles.scales_b[stage]));  //~
        for (std::uint32_t k = 0; k < kSide / kBlock; ++k) {
          const std::uint32_t instruction =
              kSide / 8u << 17 | 1u << 23 | kSide / 128u << 27 | k << 4 | k << 29;
          MULTIPLY(tensor + sums.stage * kSide, descriptor(tiles.a[stage]) + 2 * k,  //~
                   descriptor(tiles.b[stage]) + 2 * k, instruction, of_a, of_b, step + k);
        }
        if (defect == freed_without_commit) {
          ARRIVE(empty + 8 * stage);
        } else {
          COMMIT(empty + 8 * stage);
        }
      }
      COMMIT(summed + 8 * sums.stage);
    }
  } else if (warp == 2) {
    for (int work = 0; work < kTiles * kSteps; ++work, ring.next()) {
      WAIT(full + 8 * ring.stage, ring.parity);
      turn(tiles.scales_a[ring.stage], lane, defect);
      turn(tiles.scales_b[ring.stage], lane, defect);
      UNLESS(no_fence_for_scales) DO("fence.proxy.async.shared::cta;");
      if (defect != told_by_one_lane) {
        ARRIVE(turned + 8 * ring.stage);
      } else if (lane == 0) {
        for (int i = 0; i < 32; ++i) ARRIVE(turned + 8 * ring.stage);
      }
    }
  } else if (warp >= 4) {
    Ring<2> sums;
    Ring<kParts> part;
    for (int tile = 0; tile < kTiles; ++tile, sums.next()) {
      WAIT(summed + 8 * sums.stage, sums.parity);
      DO("tcgen05.fence::after_thread_sync;");
      for (int from = 0; from < kSide; from += kPartColumns, part.next()) {
        // The part that left before the last one has been read.
        if (threadIdx.x == 128) {
          DO("cp.async.bulk.wait_group.read 1;");
        }
        BAR_OF_GROUP();
        const std::uint32_t row = threadIdx.x % 128;
        for (int i = 0; i < kPartColumns / 4; ++i) {
          float4 four;
          LOAD_4(four, tensor + sums.stage * kSide + from + 4 * i + (row / 32 * 32 << 16));  //~
          DO("tcgen05.wait::ld.sync.aligned;");
          const int at = row * kPartColumns + (i ^ row % 8) * 4;            // swizzled
          *reinterpret_cast<float4*>(&tiles.parts[part.stage][at]) = four;  //~
        }
        DO("fence.proxy.async.shared::cta;");
        BAR_OF_GROUP();
        if (threadIdx.x == 128) {
          TILE_OUT(&out, tile * kSide + from, 0, ADDRESS(tiles.parts[part.stage]));  //~
          DO("cp.async.bulk.commit_group;");
        }
      }
      DO("tcgen05.fence::before_thread_sync;");
      ARRIVE(free + 8 * sums.stage);
    }
    if (threadIdx.x == 128) DO("cp.async.bulk.wait_group 0;");
  }
  __syncwarp();
  DO("tcgen05.fence::before_thread_sync;");
  __syncthreads();
  DO("tcgen05.fence::after_thread_sync;");
  if (warp == 2) {
    DO("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(tensor),
                 "r"(kAllColumns));
  }
}

// The exponent of a row's scale for a block.
int exponent(int row, int block) { return (row + block * 3) % 5 - 2; }

// Powers of two as bytes, four blocks of a row in a word, the words of rows side by side.
void pack(Buffer<std::uint32_t>& scales, int rows) {
  for (int row = 0; row < rows; ++row) {
    for (int block = 0; block < kDepth / kBlock; ++block) {
      const std::uint32_t byte = 127 + exponent(row, block);
      scales[block / 4 * rows + row] |= byte << block % 4 * 8;
    }
  }
}

int main(int count, char** arguments) {
  const int defect = defect_of(count, arguments, kNames);
  Buffer<float> values(kRows * kDepth), out(kRows * kColumns);
  Buffer<std::uint8_t> a(kRows * kDepth), b(kColumns * kDepth);
  Buffer<std::uint32_t> scales_a(kSteps * kRows), scales_b(kSteps * kColumns);
  std::vector<float> of_b(kColumns * kDepth);
  for (int i = 0; i < kRows * kDepth; ++i) values[i] = static_cast<float>(i * 7 % 11 - 5);
  for (int i = 0; i < kColumns * kDepth; ++i) {
    of_b[i] = static_cast<float>(i * 5 % 7 - 3);
    b[i] = __nv_cvt_float_to_fp8(of_b[i], __NV_SATFINITE, __NV_E4M3);
  }
  pack(scales_a, kRows);
  pack(scales_b, kColumns);
  const auto map = [](auto type, auto& data, int rows, int columns, int box_rows, int box_columns,
                      auto swizzle) {
    return map_of(type, sizeof data[0], data, rows, columns, box_rows, box_columns, swizzle);
  };
  constexpr auto kBytes = CU_TENSOR_MAP_DATA_TYPE_UINT8, kWords = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  constexpr auto kPlain = CU_TENSOR_MAP_SWIZZLE_NONE, kSwizzled = CU_TENSOR_MAP_SWIZZLE_128B;
  require(
      cudaFuncSetAttribute(multiply, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  cudaStream_t stream;
  require(cudaStreamCreate(&stream));
  quantize<<<1, 128, 0, stream>>>(values, a, kRows * kDepth);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t launch{};
  launch.gridDim = 1;
  launch.blockDim = kThreads;
  launch.dynamicSmemBytes = kSharedBytes;
  launch.stream = stream;
  launch.attrs = &early;
  launch.numAttrs = 1;
  require(cudaLaunchKernelEx(
      &launch, multiply, map(kBytes, a, kRows, kDepth, kSide, kSide, kSwizzled),
      map(kBytes, b, kColumns, kDepth, kSide, kSide, kSwizzled),
      map(kWords, scales_a, kSteps, kRows, 1, kSide, kPlain),
      map(kWords, scales_b, kSteps, kColumns, 1, kSide, kPlain),
      map(CU_TENSOR_MAP_DATA_TYPE_FLOAT32, out, kRows, kColumns, kSide, kPartColumns, kSwizzled),
      defect));
  finish();
  bool is_right = true;
  for (int i = 0; i < kRows * kColumns; ++i) {
    const int row = i / kColumns, column = i % kColumns;
    float sum = 0;
    for (int k = 0; k < kDepth; ++k) {
      sum += std::ldexp(values[row * kDepth + k] * of_b[column * kDepth + k],
                        exponent(row, k / kBlock) + exponent(column, k / kBlock));
    }
    is_right &= out[i] == sum;
  }
  require(cudaStreamDestroy(stream));
  return verdict(is_right);
}
