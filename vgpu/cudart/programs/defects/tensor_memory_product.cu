// A product of halves whose sums stand in tensor memory, as libraries for sm_100a write it: warps
// that bring tiles, multiply, ask for more work and store, with a ring of tiles, two accumulators,
// and blocks or clusters that take over the work of those which have not begun.  The same once more
// by pairs of blocks.
//
// A run without an argument is right.  With one it has that defect:
// clang-format off
// arch: compute_100a
// defect no_wait_for_tiles: data-race; no thread has waited for the phase of the mbarrier that counts the asynchronous copy (1) before (2)
// defect stored_early: data-race; nothing orders the threads of the load (1) and of (2)
// defect loads_not_waited_for: data-race; the load (1) is asynchronous, and no tcgen05.wait::ld of its warp comes between (1) and the synchronisation with the thread of (2)
// defect wrong_parity: deadlock; no thread of the launch can go on, whoever runs first: (1) 128 threads of 4 blocks wait for the mbarrier objects[3], 8 bytes, which has 0 of 1 arrivals; (2) 128 threads of 4 blocks wait for the mbarrier objects[0], 8 bytes, which has 0 of 1 arrivals; (3) 64 threads of 2 blocks wait for the mbarrier objects[12], 8 bytes, which has 1 of 7 arrivals; (4) 512 threads of 4 blocks wait for the mbarrier objects[6], 8 bytes, which has 0 of 1 arrivals; (5) 192 threads of 4 blocks wait at barrier 0, at which 32 of 256 threads have arrived
// defect wrong_stage: data-race; no thread has waited for the phase of the mbarrier that counts the asynchronous copy (1) before (2)
// defect sums_overwritten: data-race; nothing orders the threads of the load (1) and of (2)
// defect never_deallocated: leak; the block of (1) has ended, and no tcgen05.dealloc has deallocated the columns
// defect pair_no_multicast: deadlock; no thread of the launch can go on, whoever runs first: (1) 128 threads of 4 blocks wait for the mbarrier objects[3], 8 bytes, which has 0 of 1 arrivals; (2) 128 threads of 4 blocks wait for the mbarrier objects[0], 8 bytes, which has 1 of 2 arrivals; (3) 1024 threads of 8 blocks wait for the mbarrier objects[6], 8 bytes, which has 0 of 1 arrivals; (4) 128 threads of 4 blocks wait for the mbarrier objects[3], 8 bytes, which has 0 of 1 arrivals; (5) 640 threads of 8 blocks wait at the barrier of the cluster, at which 160 of 512 threads have arrived
// defect pair_own_barrier: deadlock; no thread of the launch can go on, whoever runs first: (1) 256 threads of 8 blocks wait for the mbarrier objects[3], 8 bytes, which has 0 of 1 arrivals; (2) 128 threads of 4 blocks wait for the mbarrier objects[0], 8 bytes, which has 1 of 2 arrivals; (3) 1024 threads of 8 blocks wait for the mbarrier objects[6], 8 bytes, which has 0 of 1 arrivals; (4) 640 threads of 8 blocks wait at the barrier of the cluster, at which 160 of 512 threads have arrived
// defect pair_left_early: out-of-bounds; (1): it accesses columns 0 to 127 of tensor memory, and column 0 is not allocated
// defect pair_stored_early: data-race; nothing orders the threads of the load (1) and of (2)
// defect pair_no_wait_for_tiles: data-race; no thread has waited for the phase of the mbarrier that counts the asynchronous copy (1) before (2)
// clang-format on
#include <cuda_fp16.h>

#include "asynchronous.cuh"

constexpr int kDepth = 256, kTileRows = 128, kTileDepth = 64, kColumnsOfBlock = 64;
constexpr int kStages = 3, kSteps = kDepth / kTileDepth, kAccumulators = 2, kAnswers = 2;
constexpr std::uint32_t kBytesOfA = kTileRows * kTileDepth * 2;
constexpr std::uint32_t kBytesOfB = kColumnsOfBlock * kTileDepth * 2;
constexpr std::uint32_t kStageBytes = kBytesOfA + kBytesOfB;
constexpr std::uint32_t kSharedBytes = kStages * kStageBytes + 1024;
constexpr int kThreads = 256, kWarpsThatStore = 4;

enum Defect {
  none,
  no_wait_for_tiles,
  wrong_parity,
  wrong_stage,
  no_commit,
  stored_early,
  sums_overwritten,
  loads_not_waited_for,
  never_deallocated,
  answer_overwritten,
  pair_no_multicast,
  pair_own_barrier,
  pair_left_early,
  pair_stored_early,
  pair_no_wait_for_tiles,
};
const char* const kNames[] = {"",
                              "no_wait_for_tiles",
                              "wrong_parity",
                              "wrong_stage",
                              "no_commit",
                              "stored_early",
                              "sums_overwritten",
                              "loads_not_waited_for",
                              "never_deallocated",
                              "answer_overwritten",
                              "pair_no_multicast",
                              "pair_own_barrier",
                              "pair_left_early",
                              "pair_stored_early",
                              "pair_no_wait_for_tiles"};

// Rows of 128 bytes, swizzled.
__device__ std::uint64_t descriptor(std::uint32_t tile) {
  return (tile & 0x3ffff) >> 4 | 1ull << 16 | std::uint64_t{1024 >> 4} << 32 | 1ull << 46 |
         2ull << 61;
}

// PAIRED("text of one block", "text of a pair", operands)
#define PAIRED(one, two, ...)      \
  if constexpr (kBlocks == 1)      \
    asm volatile(one __VA_ARGS__); \
  else                             \
    asm volatile(two __VA_ARGS__)
#define MULTIPLY_IN(group, d, a, b, instruction, adds)                             \
  asm volatile(                                                                    \
      "{.reg .pred p; setp.ne.b32 p, %4, 0;\n"                                     \
      "tcgen05.mma.cta_group::" group ".kind::f16 [%0], %1, %2, %3, p;}" ::"r"(d), \
      "l"(a), "l"(b), "r"(instruction), "r"(adds)                                  \
      : "memory")
#define TILE_OF_PAIR(shared, map, x, y, object)                                                   \
  asm volatile(                                                                                   \
      "cp.async.bulk.tensor.2d.cta_group::2.shared::cluster.global.mbarrier::complete_tx::bytes " \
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared),                                                \
      "l"(map), "r"(x), "r"(y), "r"(object)                                                       \
      : "memory")
#define COMMIT(object)                                                                            \
  asm volatile(                                                                                   \
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(object) \
      : "memory")
#define COMMIT_TO(object, blocks)                                                                 \
  asm volatile(                                                                                   \
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 " \
      "[%0], %1;" ::"r"(object),                                                                  \
      "h"(static_cast<std::uint16_t>(blocks))                                                     \
      : "memory")
#define LOAD_16(v, i, address)                                                                \
  asm volatile(                                                                               \
      "tcgen05.ld.sync.aligned.32x32b.x16.b32 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, " \
      "%11, %12, %13, %14, %15}, [%16];"                                                      \
      : "=r"(v[i]), "=r"(v[i + 1]), "=r"(v[i + 2]), "=r"(v[i + 3]), "=r"(v[i + 4]),           \
        "=r"(v[i + 5]), "=r"(v[i + 6]), "=r"(v[i + 7]), "=r"(v[i + 8]), "=r"(v[i + 9]),       \
        "=r"(v[i + 10]), "=r"(v[i + 11]), "=r"(v[i + 12]), "=r"(v[i + 13]), "=r"(v[i + 14]),  \
        "=r"(v[i + 15])                                                                       \
      : "r"(address))

#define ASK(multicast, to, object)                                                               \
  asm volatile(                                                                                  \
      "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes" multicast \
      ".b128 [%0], [%1];" ::"r"(to),                                                             \
      "r"(object)                                                                                \
      : "memory")
#define LOAD_ANSWER(there, x, y, answer)                                                          \
  asm volatile(                                                                                   \
      "{.reg .b128 answer; .reg .pred p;\n"                                                       \
      "ld.shared.b128 answer, [%3];\n"                                                            \
      "clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, answer;\n"                      \
      "selp.u32 %0, 1, 0, p;\n"                                                                   \
      "@p clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {%1, %2, _, _}, answer;}" \
      : "=r"(there), "=r"(x), "=r"(y)                                                             \
      : "r"(answer)                                                                               \
      : "memory")

struct Work {
  int row = 0, column = 0;
  bool is_there = true;
};

// What an answer says: the first block of the cluster whose work is taken over.
__device__ Work work_of(std::uint32_t answer) {
  Work work;
  std::uint32_t is_there, x, y;
  LOAD_ANSWER(is_there, x, y, answer);  //~
  DO("fence.proxy.async.shared::cta;");
  work.is_there = is_there != 0;
  work.row = static_cast<int>(x);
  work.column = static_cast<int>(y);
  return work;
}

// Of two neighbouring blocks a pair has the even one leads: it alone multiplies, and the mbarriers
// that tell it of tiles and of free accumulators are there.
template <int kBlocks>
__global__ void __launch_bounds__(kThreads, 1)
    multiply(const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b, float* c,
             int columns, int defect) {
  constexpr int kColumns = kColumnsOfBlock * kBlocks;  // of a tile
  constexpr std::uint32_t kInstruction =
      1u << 4 | kColumns / 8u << 17 | kTileRows * kBlocks / 16u << 24;
  extern __shared__ char memory[];
  __shared__ alignas(16) uint4 answers[kAnswers];
  __shared__ std::uint64_t objects[2 * (kStages + kAccumulators + kAnswers)];
  __shared__ std::uint32_t place;
  const std::uint32_t tiles = (ADDRESS(memory) + 1023) / 1024 * 1024;
  const std::uint32_t full = ADDRESS(objects), empty = full + 8 * kStages;
  const std::uint32_t summed = empty + 8 * kStages, stored = summed + 8 * kAccumulators;
  const std::uint32_t answered = stored + 8 * kAccumulators, read = answered + 8 * kAnswers;
  const std::uint32_t rank = kBlocks == 1 ? 0 : cluster_rank();
  const int warp = threadIdx.x / 32;
  if (warp == 0 && is_elected()) {
    for (int i = 0; i < kStages; ++i) {
      INIT(full + 8 * i, kBlocks);
      INIT(empty + 8 * i, 1);
    }
    for (int i = 0; i < kAccumulators; ++i) {
      INIT(summed + 8 * i, 1);
      INIT(stored + 8 * i, kBlocks * kWarpsThatStore);
    }
    for (int i = 0; i < kAnswers; ++i) {
      INIT(answered + 8 * i, 1);
      INIT(read + 8 * i, kBlocks * (kWarpsThatStore + 1) + 2);
    }
    DO("fence.mbarrier_init.release.cluster;");
  }
  if (warp == 3) {
    PAIRED("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 256;",  //~
           "tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], 256;",
           ::"r"(ADDRESS(&place))
           : "memory");
    PAIRED("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;",
           "tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;", );
  }
  DO("tcgen05.fence::before_thread_sync;");
  if constexpr (kBlocks == 1) {
    __syncthreads();
  } else {
    DO("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;");
  }
  DO("tcgen05.fence::after_thread_sync;");
  const std::uint32_t sums = place;

  Work work{static_cast<int>(blockIdx.x - rank), static_cast<int>(blockIdx.y)};
  Ring<kAnswers> answer;
  const auto next_work = [&] {
    WAIT(answered + 8 * answer.stage, answer.parity);  //~
    work = work_of(ADDRESS(answers) + 16 * answer.stage);
    __syncwarp();
    if (threadIdx.x % 32 == 0) ARRIVE_THERE(read + 8 * answer.stage, 0);
    answer.next();
  };
  if (warp == 0) {
    // Brings tiles: rows of this block, and half of the columns of the pair.
    Ring<kStages> ring;
    for (; work.is_there; next_work()) {
      for (int step = 0; step < kSteps; ++step, ring.next()) {
        WAIT(empty + 8 * ring.stage, ring.parity ^ (defect == wrong_parity ? 0 : 1));  //~
        if (is_elected()) {
          const std::uint32_t here = tiles + ring.stage * kStageBytes;
          std::uint32_t brought = full + 8 * ring.stage;
          const int row = (work.row + rank) * kTileRows;
          const int column = work.column * kColumns + rank * kColumnsOfBlock;
          if constexpr (kBlocks == 1) {
            EXPECT(brought, kStageBytes);
            TILE_IN(here, &a, step * kTileDepth, row, brought);                 //~
            TILE_IN(here + kBytesOfA, &b, step * kTileDepth, column, brought);  //~
          } else {
            // Bit 24 of an address of shared memory tells the odd block of a pair from the even
            // one.
            UNLESS(pair_own_barrier) brought &= 0xfeffffff;
            asm volatile(
                "mbarrier.arrive.expect_tx.shared::cluster.b64 _, [%0], %1;" ::"r"(brought),
                "r"(kStageBytes)
                : "memory");
            TILE_OF_PAIR(here, &a, step * kTileDepth, row, brought);                 //~
            TILE_OF_PAIR(here + kBytesOfA, &b, step * kTileDepth, column, brought);  //~
          }
        }
        __syncwarp();
      }
    }
    // The last signals that stages are free arrive before the block may end.
    for (int i = 0; kBlocks != 1 && i < kStages; ++i, ring.next()) {
      WAIT(empty + 8 * ring.stage, ring.parity ^ 1);  //~
    }
  } else if (warp == 1 && rank == 0) {
    Ring<kStages> ring;
    for (Ring<kAccumulators> accumulator; work.is_there; next_work(), accumulator.next()) {
      UNLESS(sums_overwritten) WAIT(stored + 8 * accumulator.stage, accumulator.parity ^ 1);
      DO("tcgen05.fence::after_thread_sync;");
      const std::uint32_t d = sums + accumulator.stage * kColumns;
      for (int step = 0; step < kSteps; ++step, ring.next()) {
        const std::uint32_t stage = (ring.stage + (defect == wrong_stage ? 1 : 0)) % kStages;
        if (defect != no_wait_for_tiles && defect != pair_no_wait_for_tiles)
          WAIT(full + 8 * ring.stage, ring.parity);  //~
        DO("tcgen05.fence::after_thread_sync;");
        if (is_elected()) {
          const std::uint64_t from_a = descriptor(tiles + stage * kStageBytes);
          const std::uint64_t from_b = descriptor(tiles + stage * kStageBytes + kBytesOfA);
          for (int k = 0; k < kTileDepth / 16; ++k) {
            if constexpr (kBlocks == 1) {
              MULTIPLY_IN("1", d, from_a + 2 * k, from_b + 2 * k, kInstruction, step + k);  //~
            } else {
              MULTIPLY_IN("2", d, from_a + 2 * k, from_b + 2 * k, kInstruction, step + k);  //~
            }
          }
          if constexpr (kBlocks == 1) {
            UNLESS(no_commit) COMMIT(empty + 8 * ring.stage);
          } else {
            UNLESS(no_commit)
            COMMIT_TO(empty + 8 * ring.stage, defect == pair_no_multicast ? 1 : 3);
          }
        }
        __syncwarp();
      }
      if (is_elected()) {
        if constexpr (kBlocks == 1)
          COMMIT(summed + 8 * accumulator.stage);
        else
          COMMIT_TO(summed + 8 * accumulator.stage, 3);
      }
      __syncwarp();
    }
  } else if (warp == 2 && rank == 0) {
    // Asks for more work, for all blocks of the cluster.
    for (Ring<kAnswers> asked; work.is_there; asked.next(), next_work()) {
      UNLESS(answer_overwritten) WAIT(read + 8 * asked.stage, asked.parity ^ 1);  //~
      if (threadIdx.x % 32 < kBlocks) {
        asm volatile(
            "{.reg .b32 there; mapa.shared::cluster.u32 there, %0, %1;\n"
            "mbarrier.arrive.expect_tx.shared::cluster.b64 _, [there], 16;}" ::"r"(answered +
                                                                                   8 * asked.stage),
            "r"(threadIdx.x % 32)
            : "memory");
      }
      __syncwarp();
      if (is_elected()) {
        const std::uint32_t to = ADDRESS(answers) + 16 * asked.stage;
        if constexpr (kBlocks == 1)
          ASK("", to, answered + 8 * asked.stage);  //~
        else
          ASK(".multicast::cluster::all", to, answered + 8 * asked.stage);  //~
      }
      __syncwarp();
    }
  } else if (warp >= kWarpsThatStore) {
    for (Ring<kAccumulators> accumulator; work.is_there; next_work(), accumulator.next()) {
      const int row = (work.row + rank) * kTileRows + threadIdx.x % 128;
      float* const to = c + row * columns + work.column * kColumns;
      if (defect != stored_early && (defect != pair_stored_early || rank == 0))
        WAIT(summed + 8 * accumulator.stage, accumulator.parity);  //~
      DO("tcgen05.fence::after_thread_sync;");
      const std::uint32_t lanes = warp % 4 * 32 << 16;
      for (int column = 0; column < kColumns; column += 32) {
        std::uint32_t values[32];
        const std::uint32_t from = sums + lanes + accumulator.stage * kColumns + column;
        LOAD_16(values, 0, from);        //~
        LOAD_16(values, 16, from + 16);  //~
        UNLESS(loads_not_waited_for) DO("tcgen05.wait::ld.sync.aligned;");
        for (int i = 0; i < 32; i += 8) {
          asm volatile(
              "st.global.v8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"l"(to + column + i),
              "r"(values[i]), "r"(values[i + 1]), "r"(values[i + 2]), "r"(values[i + 3]),
              "r"(values[i + 4]), "r"(values[i + 5]), "r"(values[i + 6]), "r"(values[i + 7])
              : "memory");
        }
      }
      DO("tcgen05.fence::before_thread_sync;");
      __syncwarp();
      if (threadIdx.x % 32 == 0) ARRIVE_THERE(stored + 8 * accumulator.stage, 0);
    }
  }
  __syncwarp();
  DO("tcgen05.fence::before_thread_sync;");
  if constexpr (kBlocks == 1) {
    __syncthreads();  //~
  } else if (defect != pair_left_early) {
    DO("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;");  //~
  }
  DO("tcgen05.fence::after_thread_sync;");
  if (warp == 3 && defect != never_deallocated) {
    PAIRED("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 256;",
           "tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, 256;", ::"r"(sums));
  }
}

template <int kBlocks>
bool is_right(int defect) {
  constexpr int kRows = 4 * kTileRows, kColumns = 2 * kBlocks * kColumnsOfBlock;
  Buffer<__half> a(kRows * kDepth), b(kColumns * kDepth);
  Buffer<float> c(kRows * kColumns);
  for (int i = 0; i < kRows * kDepth; ++i) a[i] = __float2half(i * 7 % 11 - 5);
  for (int i = 0; i < kColumns * kDepth; ++i) b[i] = __float2half(i * 5 % 7 - 3);
  const CUtensorMap map_a = map_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, a, kRows, kDepth, kTileRows,
                                   kTileDepth, CU_TENSOR_MAP_SWIZZLE_128B);
  const CUtensorMap map_b = map_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, b, kColumns, kDepth,
                                   kColumnsOfBlock, kTileDepth, CU_TENSOR_MAP_SWIZZLE_128B);
  require(cudaFuncSetAttribute(multiply<kBlocks>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               kSharedBytes));
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {kBlocks, 1, 1};
  cudaLaunchConfig_t launch{};
  launch.gridDim = dim3(kRows / kTileRows, kColumns / (kBlocks * kColumnsOfBlock));
  launch.blockDim = dim3(kThreads);
  launch.dynamicSmemBytes = kSharedBytes;
  launch.attrs = &cluster;
  launch.numAttrs = 1;
  float* const to = c;
  require(cudaLaunchKernelEx(&launch, multiply<kBlocks>, map_a, map_b, to, kColumns, defect));
  finish();
  bool right = true;
  for (int i = 0; i < kRows * kColumns; ++i) {
    float sum = 0;
    for (int k = 0; k < kDepth; ++k) {
      sum +=
          __half2float(a[i / kColumns * kDepth + k]) * __half2float(b[i % kColumns * kDepth + k]);
    }
    right &= c[i] == sum;
  }
  return right;
}

int main(int count, char** arguments) {
  const int defect = defect_of(count, arguments, kNames);
  const bool of_pair = defect >= pair_no_multicast;
  return verdict((of_pair || is_right<1>(defect)) &
                 ((defect != 0 && !of_pair) || is_right<2>(defect)));
}
