// Attention forward for one head, as libraries for sm_100a write it: scores of a block of keys are
// computed into tensor memory, a warpgroup takes their softmax and puts the weights back there as
// halves, from where they are multiplied by the values; the output stands in tensor memory and is
// rescaled where the largest score has grown.
//
// A run without an argument is right.  With one it has that defect:
// clang-format off
// arch: compute_100a
// defect scores_not_waited_for: data-race; nothing orders the threads of the load (1) and of (2)
// defect weights_not_waited_for: deadlock; no thread of the launch can go on, whoever runs first: (1) 128 threads wait for the mbarrier objects[5], 8 bytes, which has 0 of 1 arrivals; (2) 64 threads wait at barrier 0, at which 64 of 192 threads have arrived
// defect no_fence_after_scores: data-race; no tcgen05.fence::after_thread_sync comes between the synchronisation that tells of the product (1) and (2)
// defect no_fence_before_weights: data-race; no tcgen05.fence::before_thread_sync follows the store (1) before its thread synchronises with that of (2)
// defect output_read_early: data-race; nothing orders the threads of the load (1) and of (2)
// defect keys_refilled_early: data-race; no thread has waited for the phase of the mbarrier that counts the asynchronous copy (1) before (2)
// defect no_commit_of_scores: deadlock; no thread of the launch can go on, whoever runs first: (1) 128 threads wait for the mbarrier objects[5], 8 bytes, which has 0 of 1 arrivals; (2) 1 thread waits for the mbarrier objects[2], 8 bytes, which has 0 of 1 arrivals; (3) 1 thread waits for the mbarrier objects[6], 8 bytes, which has 0 of 128 arrivals; (4) 62 threads wait for lanes 0x00000001 of the same warp
// clang-format on
#include <cuda_fp16.h>

#include <cmath>
#include <vector>

#include "asynchronous.cuh"

constexpr int kQueries = 128, kKeys = 256, kWidth = 64, kBlockKeys = 64;  // of the head
constexpr int kBlocksOfKeys = kKeys / kBlockKeys, kStages = 2;
constexpr std::uint32_t kQueryBytes = kQueries * kWidth * 2;
constexpr std::uint32_t kKeyBytes = kBlockKeys * kWidth * 2;
constexpr std::uint32_t kSharedBytes = kQueryBytes + kStages * 2 * kKeyBytes + 1024;
constexpr int kThreads = 192;  // a warpgroup, a warp that brings tiles, and one that multiplies
// In tensor memory: scores, weights as pairs of halves, output.
constexpr std::uint32_t kColumns = 256, kScores = 0, kWeights = 64, kOutput = 128;

enum Defect {
  none,
  scores_not_waited_for,
  weights_not_waited_for,
  no_fence_after_scores,
  no_fence_before_weights,
  output_read_early,
  keys_refilled_early,
  no_commit_of_scores,
};
const char* const kNames[] = {"",
                              "scores_not_waited_for",
                              "weights_not_waited_for",
                              "no_fence_after_scores",
                              "no_fence_before_weights",
                              "output_read_early",
                              "keys_refilled_early",
                              "no_commit_of_scores"};

// Rows of 128 bytes, swizzled; of values, neighbours in memory have the same k.
__device__ std::uint64_t descriptor(std::uint32_t tile) {
  return (tile & 0x3ffff) >> 4 | 1ull << 16 | std::uint64_t{1024 >> 4} << 32 | 1ull << 46 |
         2ull << 61;
}
constexpr std::uint32_t kInstruction = 1u << 4 | kBlockKeys / 8u << 17 | kQueries / 16u << 24;
constexpr std::uint32_t kAcross = 1u << 16;  // of b

#define MULTIPLY(d, a, b, instruction, adds)                               \
  asm volatile(                                                            \
      "{.reg .pred p; setp.ne.b32 p, %4, 0;\n"                             \
      "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p;}" ::"r"(d), \
      "l"(a), "l"(b), "r"(instruction), "r"(adds)                          \
      : "memory")
#define MULTIPLY_WEIGHTS(d, a, b, instruction, adds)                         \
  asm volatile(                                                              \
      "{.reg .pred p; setp.ne.b32 p, %4, 0;\n"                               \
      "tcgen05.mma.cta_group::1.kind::f16 [%0], [%1], %2, %3, p;}" ::"r"(d), \
      "r"(a), "l"(b), "r"(instruction), "r"(adds)                            \
      : "memory")
#define COMMIT(object)                                                                            \
  asm volatile(                                                                                   \
      "tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(object) \
      : "memory")
#define LOAD_8(v, i, address)                                                                  \
  asm volatile("tcgen05.ld.sync.aligned.32x32b.x8.b32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8];" \
               : "=r"(v[i]), "=r"(v[i + 1]), "=r"(v[i + 2]), "=r"(v[i + 3]), "=r"(v[i + 4]),   \
                 "=r"(v[i + 5]), "=r"(v[i + 6]), "=r"(v[i + 7])                                \
               : "r"(address))
#define STORE_8(address, v, i)                                                               \
  asm volatile(                                                                              \
      "tcgen05.st.sync.aligned.32x32b.x8.b32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8};" ::"r"( \
          address),                                                                          \
      "r"(v[i]), "r"(v[i + 1]), "r"(v[i + 2]), "r"(v[i + 3]), "r"(v[i + 4]), "r"(v[i + 5]),  \
      "r"(v[i + 6]), "r"(v[i + 7])                                                           \
      : "memory")

__global__ void __launch_bounds__(kThreads, 1)
    attend(const __grid_constant__ CUtensorMap queries, const __grid_constant__ CUtensorMap keys,
           const __grid_constant__ CUtensorMap values, float* out, int defect) {
  extern __shared__ char memory[];
  __shared__ std::uint64_t objects[2 * kStages + 4];
  __shared__ std::uint32_t place;
  const std::uint32_t queries_here = (ADDRESS(memory) + 1023) / 1024 * 1024;
  const std::uint32_t tiles = queries_here + kQueryBytes;
  const std::uint32_t full = ADDRESS(objects), empty = full + 8 * kStages;
  const std::uint32_t brought = empty + 8 * kStages, scored = brought + 8, weighed = scored + 8,
                      summed = weighed + 8;
  const int warp = threadIdx.x / 32;
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      INIT(full + 8 * i, 1);
      INIT(empty + 8 * i, 1);
    }
    INIT(brought, 1);
    INIT(scored, 1);
    INIT(weighed, 128);
    INIT(summed, 1);
    DO("fence.mbarrier_init.release.cluster;");
  }
  if (warp == 5) {
    asm volatile(
        "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(ADDRESS(&place)),
        "r"(kColumns)
        : "memory");
    DO("tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;");
  }
  DO("tcgen05.fence::before_thread_sync;");
  __syncthreads();
  DO("tcgen05.fence::after_thread_sync;");
  const std::uint32_t tensor = place;

  if (warp == 4 && is_elected()) {
    EXPECT(brought, kQueryBytes);
    TILE_IN(queries_here, &queries, 0, 0, brought);
    Ring<kStages> ring;
    for (int block = 0; block < kBlocksOfKeys; ++block, ring.next()) {
      UNLESS(keys_refilled_early) WAIT(empty + 8 * ring.stage, ring.parity ^ 1);  //~
      const std::uint32_t here = tiles + ring.stage * 2 * kKeyBytes;
      EXPECT(full + 8 * ring.stage, 2 * kKeyBytes);
      TILE_IN(here, &keys, 0, block * kBlockKeys, full + 8 * ring.stage);                //~
      TILE_IN(here + kKeyBytes, &values, 0, block * kBlockKeys, full + 8 * ring.stage);  //~
    }
  } else if (warp == 5 && is_elected()) {
    WAIT(brought, 0);
    Ring<kStages> ring;
    for (int block = 0; block < kBlocksOfKeys; ++block, ring.next()) {
      const std::uint32_t here = tiles + ring.stage * 2 * kKeyBytes;
      WAIT(full + 8 * ring.stage, ring.parity);
      for (int k = 0; k < kWidth / 16; ++k) {
        const std::uint64_t from_a = descriptor(queries_here) + 2 * k;
        MULTIPLY(tensor + kScores, from_a, descriptor(here) + 2 * k, kInstruction, k);  //~
      }
      UNLESS(no_commit_of_scores) COMMIT(scored);
      UNLESS(weights_not_waited_for) WAIT(weighed, block & 1);  //~
      DO("tcgen05.fence::after_thread_sync;");
      for (int k = 0; k < kBlockKeys / 16; ++k) {
        const std::uint32_t from_a = tensor + kWeights + 8 * k;
        const std::uint64_t from_b = descriptor(here + kKeyBytes + 16 * 128 * k);
        MULTIPLY_WEIGHTS(tensor + kOutput, from_a, from_b, kInstruction | kAcross, block + k);  //~
      }
      COMMIT(empty + 8 * ring.stage);
      COMMIT(summed);
    }
  } else if (warp < 4) {
    const std::uint32_t lanes = tensor + (warp * 32 << 16);
    const float scale = rsqrtf(kWidth) * 1.44269504f;
    float largest = -INFINITY, sum = 0;
    for (int block = 0; block < kBlocksOfKeys; ++block) {
      UNLESS(scores_not_waited_for)
      WAIT(scored, block & 1);  //~
      UNLESS(no_fence_after_scores) DO("tcgen05.fence::after_thread_sync;");
      std::uint32_t scores[kBlockKeys];
      for (int i = 0; i < kBlockKeys; i += 8) LOAD_8(scores, i, lanes + kScores + i);  //~
      DO("tcgen05.wait::ld.sync.aligned;");
      float now = largest;
      for (const std::uint32_t score : scores) now = fmaxf(now, __uint_as_float(score));
      float of_block = 0;
      std::uint32_t weights[kBlockKeys / 2];
      for (int i = 0; i < kBlockKeys / 2; ++i) {
        const float first = exp2f((__uint_as_float(scores[2 * i]) - now) * scale);
        const float second = exp2f((__uint_as_float(scores[2 * i + 1]) - now) * scale);
        const __half2 pair = __floats2half2_rn(first, second);
        std::memcpy(&weights[i], &pair, sizeof pair);
        of_block += first + second;
      }
      const float by = exp2f((largest - now) * scale);
      sum = sum * by + of_block;
      largest = now;
      // The output so far, once the product before has been added to it.
      if (block > 0) {
        WAIT(summed, (block - 1) & 1);
        DO("tcgen05.fence::after_thread_sync;");
        for (int i = 0; i < kWidth; i += 8) {
          std::uint32_t part[8];
          LOAD_8(part, 0, lanes + kOutput + i);  //~
          DO("tcgen05.wait::ld.sync.aligned;");
          for (std::uint32_t& each : part) each = __float_as_uint(__uint_as_float(each) * by);
          STORE_8(lanes + kOutput + i, part, 0);  //~
        }
      }
      for (int i = 0; i < kBlockKeys / 2; i += 8) STORE_8(lanes + kWeights + i, weights, i);  //~
      DO("tcgen05.wait::st.sync.aligned;");
      UNLESS(no_fence_before_weights) DO("tcgen05.fence::before_thread_sync;");
      ARRIVE(weighed);
    }
    UNLESS(output_read_early) WAIT(summed, (kBlocksOfKeys - 1) & 1);
    DO("tcgen05.fence::after_thread_sync;");
    for (int i = 0; i < kWidth; i += 8) {
      std::uint32_t part[8];
      LOAD_8(part, 0, lanes + kOutput + i);  //~
      DO("tcgen05.wait::ld.sync.aligned;");
      for (int j = 0; j < 8; ++j) {
        out[threadIdx.x * kWidth + i + j] = __uint_as_float(part[j]) / sum;
      }
    }
  }
  __syncwarp();  //~
  DO("tcgen05.fence::before_thread_sync;");
  __syncthreads();  //~
  DO("tcgen05.fence::after_thread_sync;");
  if (warp == 5) {
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, %1;" ::"r"(tensor),
                 "r"(kColumns));
  }
}

bool is_attention(Buffer<__half>& q, Buffer<__half>& k, Buffer<__half>& v, Buffer<float>& out) {
  bool is_right = true;
  for (int query = 0; query < kQueries; ++query) {
    std::vector<double> weights(kKeys);
    double largest = -1e300, sum = 0;
    for (int key = 0; key < kKeys; ++key) {
      double score = 0;
      for (int i = 0; i < kWidth; ++i) {
        score += static_cast<double>(__half2float(q[query * kWidth + i])) *
                 __half2float(k[key * kWidth + i]);
      }
      weights[key] = score / std::sqrt(kWidth);
      largest = std::fmax(largest, weights[key]);
    }
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    for (int i = 0; i < kWidth; ++i) {
      double expected = 0, most = 0;
      for (int key = 0; key < kKeys; ++key) {
        const double value = __half2float(v[key * kWidth + i]);
        expected += weights[key] / sum * value;
        most += weights[key] / sum * std::fabs(value);
      }
      // The weights are halves.
      is_right &= std::fabs(out[query * kWidth + i] - expected) <= 2e-3 * most + 1e-6;
    }
  }
  return is_right;
}

int main(int count, char** arguments) {
  const int defect = defect_of(count, arguments, kNames);
  Buffer<__half> q(kQueries * kWidth), k(kKeys * kWidth), v(kKeys * kWidth);
  Buffer<float> out(kQueries * kWidth);
  for (int i = 0; i < kQueries * kWidth; ++i) q[i] = __float2half((i * 7 % 23 - 11) / 8.0f);
  for (int i = 0; i < kKeys * kWidth; ++i) k[i] = __float2half((i * 5 % 19 - 9) / 8.0f);
  for (int i = 0; i < kKeys * kWidth; ++i) v[i] = __float2half((i * 3 % 17 - 8) / 4.0f);
  const auto map = [](Buffer<__half>& data, int rows, int box_rows) {
    return map_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, data, rows, kWidth, box_rows, kWidth,
                  CU_TENSOR_MAP_SWIZZLE_128B);
  };
  require(cudaFuncSetAttribute(attend, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  attend<<<1, kThreads, kSharedBytes>>>(map(q, kQueries, kQueries), map(k, kKeys, kBlockKeys),
                                        map(v, kKeys, kBlockKeys), out, defect);
  finish();
  return verdict(is_attention(q, k, v, out));
}
