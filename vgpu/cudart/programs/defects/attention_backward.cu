// The gradients of attention for one head, as libraries for sm_90a write it: a block has 64 keys
// and values, and a ring brings queries and gradients of the output.  A warpgroup makes weights and
// their gradients again, hands both as halves through shared memory to products across rows, and
// sums for the keys; a warp adds the gradients of the queries to global memory in bulk.
//
// A run without an argument is right.  With one it has that defect:
// clang-format off
// arch: compute_90a
// defect no_wait_for_queries: data-race; no thread has waited for the phase of the mbarrier that counts the asynchronous copy (1) before (2)
// defect no_fence_for_weights: data-race; no fence.proxy.async comes between (1) and the product (2), which need not see what (1) has written
// defect released_early: data-race; the asynchronous product (1) was not waited for and passed on by its own thread before (2)
// defect sums_overwritten: data-race; the asynchronous copy (1) was not waited for and passed on by its own thread before (2)
// defect not_read_yet: data-race; the asynchronous copy (1) was not waited for and passed on by its own thread before (2)
// clang-format on
#include <cuda_fp16.h>

#include <cmath>
#include <vector>

#include "asynchronous.cuh"

constexpr int kLength = 128, kWidth = 64, kSide = 64, kRounds = kLength / kSide, kStages = 1;
constexpr int kThreads = 256;  // a warp that brings, one that adds, and a warpgroup
constexpr std::uint32_t kTileBytes = kSide * kWidth * 2;

enum Defect {
  none,
  no_wait_for_queries,
  no_fence_for_weights,
  released_early,
  sums_overwritten,
  not_read_yet,
};
const char* const kNames[] = {"",
                              "no_wait_for_queries",
                              "no_fence_for_weights",
                              "released_early",
                              "sums_overwritten",
                              "not_read_yet"};

struct Tiles {
  __half keys[kSide * kWidth], values[kSide * kWidth];
  __half queries[kStages][kSide * kWidth], gradients[kStages][kSide * kWidth];
  __half weights[kSide * kSide], slopes[kSide * kSide];  // slopes: gradients of the scores
  float sums[kSide * kWidth];                            // of the gradients of queries
};
constexpr std::uint32_t kSharedBytes = sizeof(Tiles) + 1024;

// Rows of 128 bytes, swizzled.
__device__ std::uint64_t descriptor(const __half* tile) {
  return (ADDRESS(tile) & 0x3ffff) >> 4 | 1ull << 16 | std::uint64_t{1024 >> 4} << 32 | 1ull << 62;
}
// Of a tile, 16 columns or 16 rows from number 16 * k on.
__device__ std::uint64_t columns(const __half* tile, int k) { return descriptor(tile) + 2 * k; }
__device__ std::uint64_t rows(const __half* tile, int k) {
  return descriptor(tile + 16 * k * kWidth);
}

#define FOUR(d, i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3])
// across_a, across_b: whether neighbours in memory have the same k
#define MULTIPLY(d, a, across_a, b, across_b, adds)                                             \
  asm volatile(                                                                                 \
      "{.reg .pred p; setp.ne.b32 p, %34, 0;\n"                                                 \
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "                                     \
      "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, "  \
      "%19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, %32, %33, p, 1, 1, "   \
      "%35, %36;}"                                                                              \
      : FOUR(d, 0), FOUR(d, 4), FOUR(d, 8), FOUR(d, 12), FOUR(d, 16), FOUR(d, 20), FOUR(d, 24), \
        FOUR(d, 28)                                                                             \
      : "l"(a), "l"(b), "r"(static_cast<int>(adds)), "n"(across_a), "n"(across_b))
#define ADD_SUMS(to, sums)                                                                    \
  asm volatile(                                                                               \
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], %2;" ::"l"(to), \
      "r"(ADDRESS(sums)), "r"(kSide * kWidth * 4)                                             \
      : "memory")
#define BEGIN_PRODUCTS() DO("wgmma.fence.sync.aligned;")
#define COMMIT_PRODUCTS() DO("wgmma.commit_group.sync.aligned;")
#define WAIT_FOR_PRODUCTS(left) DO("wgmma.wait_group.sync.aligned " #left ";")
#define BAR_OF_GROUP() asm volatile("bar.sync 1, 128;" ::: "memory")
// The warpgroup hands sums to the warp that adds, and gets their place back.
#define SUMS_READY() asm volatile("bar.sync 2, 160;" ::: "memory")
#define WAIT_FOR_PLACE() asm volatile("bar.sync 3, 160;" ::: "memory")
#define GIVE_PLACE_BACK() asm volatile("bar.arrive 3, 160;" ::: "memory")

__global__ void __launch_bounds__(kThreads, 1)
    go_back(const __grid_constant__ CUtensorMap queries, const __grid_constant__ CUtensorMap keys,
            const __grid_constant__ CUtensorMap values,
            const __grid_constant__ CUtensorMap gradients, const float* logs, const float* means,
            float* of_queries, float* of_keys, float* of_values, int defect) {
  extern __shared__ char memory[];
  __shared__ std::uint64_t objects[1 + 2 * kStages];
  const std::uint32_t unaligned = ADDRESS(memory) % 1024;
  Tiles& tiles = *reinterpret_cast<Tiles*>(memory + (1024 - unaligned) % 1024);
  const std::uint32_t first = ADDRESS(objects), full = first + 8, empty = full + 8 * kStages;
  const int warp = threadIdx.x / 32, own = blockIdx.x * kSide;
  if (threadIdx.x == 0) {
    for (int i = 0; i <= kStages; ++i) INIT(first + 8 * i, 1);
    for (int i = 0; i < kStages; ++i) INIT(empty + 8 * i, 128);
    DO("fence.mbarrier_init.release.cluster;");
  }
  __syncthreads();
  if (warp == 0 && is_elected()) {
    EXPECT(first, 2 * kTileBytes);
    TILE_IN(ADDRESS(tiles.keys), &keys, 0, own, first);
    TILE_IN(ADDRESS(tiles.values), &values, 0, own, first);
    Ring<kStages> ring;
    for (int round = 0; round < kRounds; ++round, ring.next()) {
      const std::uint32_t brought = full + 8 * ring.stage;
      WAIT(empty + 8 * ring.stage, ring.parity ^ 1);
      EXPECT(brought, 2 * kTileBytes);
      TILE_IN(ADDRESS(tiles.queries[ring.stage]), &queries, 0, round * kSide, brought);      //~
      TILE_IN(ADDRESS(tiles.gradients[ring.stage]), &gradients, 0, round * kSide, brought);  //~
    }
  } else if (warp == 1) {
    for (int round = 0; round < kRounds; ++round) {
      SUMS_READY();
      if (threadIdx.x == 32) {
        ADD_SUMS(of_queries + round * kSide * kWidth, tiles.sums);  //~
        DO("cp.async.bulk.commit_group;");
        UNLESS(not_read_yet) DO("cp.async.bulk.wait_group.read 0;");
      }
      __syncwarp();
      GIVE_PLACE_BACK();
    }
    if (threadIdx.x == 32) DO("cp.async.bulk.wait_group 0;");
  } else if (warp >= 4) {
    const int lane = threadIdx.x % 32, row = warp % 4 * 16 + lane / 4, column = lane % 4 * 2;
    // Where a thread has number i of a product.
    const auto row_of = [&](int i) { return row + i / 2 % 2 * 8; };
    const auto column_of = [&](int i) { return column + i / 4 * 8 + i % 2; };
    const auto swizzled = [&](int i) {
      const int r = row_of(i), c = column_of(i);
      return r * kSide + (c / 8 ^ r % 8) * 8 + c % 8;
    };
    constexpr float kScale = 0.125f;
    float key_sums[32], value_sums[32];
    WAIT(first, 0);
    Ring<kStages> ring;
    for (int round = 0; round < kRounds; ++round, ring.next()) {
      const __half* const query = tiles.queries[ring.stage];
      const __half* const gradient = tiles.gradients[ring.stage];
      float scores[32], slopes[32];
      UNLESS(no_wait_for_queries) WAIT(full + 8 * ring.stage, ring.parity);
      BEGIN_PRODUCTS();
      for (int k = 0; k < 4; ++k)
        MULTIPLY(scores, columns(query, k), 0, columns(tiles.keys, k), 0, k);  //~
      for (int k = 0; k < 4; ++k)
        MULTIPLY(slopes, columns(gradient, k), 0, columns(tiles.values, k), 0, k);  //~
      COMMIT_PRODUCTS();
      WAIT_FOR_PRODUCTS(0);
      for (int i = 0; i < 32; ++i) {
        const int at = round * kSide + row_of(i);
        scores[i] = expf(scores[i] * kScale - logs[at]);
        slopes[i] = scores[i] * (slopes[i] - means[at]) * kScale;
      }
      BAR_OF_GROUP();  // the products of the round before have read both
      for (int i = 0; i < 32; i += 2) {
        const auto put = [&](__half* to, float low, float high) {
          *reinterpret_cast<__half2*>(to + swizzled(i)) = __floats2half2_rn(low, high);  //~
        };
        put(tiles.weights, scores[i], scores[i + 1]);
        put(tiles.slopes, slopes[i], slopes[i + 1]);
      }
      UNLESS(no_fence_for_weights) DO("fence.proxy.async.shared::cta;");
      BAR_OF_GROUP();
      float sums[32];
      const int adds = round;
      BEGIN_PRODUCTS();
      for (int k = 0; k < 4; ++k)
        MULTIPLY(value_sums, rows(tiles.weights, k), 1, rows(gradient, k), 1, adds + k);  //~
      for (int k = 0; k < 4; ++k)
        MULTIPLY(key_sums, rows(tiles.slopes, k), 1, rows(query, k), 1, adds + k);  //~
      for (int k = 0; k < 4; ++k)
        MULTIPLY(sums, columns(tiles.slopes, k), 0, rows(tiles.keys, k), 1, k);  //~
      COMMIT_PRODUCTS();
      IF(released_early) ARRIVE(empty + 8 * ring.stage);
      WAIT_FOR_PRODUCTS(0);
      UNLESS(released_early) ARRIVE(empty + 8 * ring.stage);
      if (round > 0 && defect != sums_overwritten) WAIT_FOR_PLACE();
      for (int i = 0; i < 32; ++i) tiles.sums[row_of(i) * kWidth + column_of(i)] = sums[i];  //~
      DO("fence.proxy.async.shared::cta;");
      SUMS_READY();
    }
    UNLESS(sums_overwritten) WAIT_FOR_PLACE();
    for (int i = 0; i < 32; ++i) {
      const int at = (own + row_of(i)) * kWidth + column_of(i);
      of_keys[at] = key_sums[i];
      of_values[at] = value_sums[i];
    }
  }
}

struct Head {
  Buffer<__half> queries{kLength * kWidth}, keys{kLength * kWidth}, values{kLength * kWidth},
      gradients{kLength * kWidth};
  Buffer<float> logs{kLength}, means{kLength};
  Buffer<float> of_queries{kLength * kWidth}, of_keys{kLength * kWidth},
      of_values{kLength * kWidth};
};

double dot(const __half* a, const __half* b) {
  double sum = 0;
  for (int i = 0; i < kWidth; ++i) {
    sum += static_cast<double>(__half2float(a[i])) * __half2float(b[i]);
  }
  return sum;
}

// Sets logarithms of sums and means, as the way forward has them, and returns whether what the
// kernel has made of them is right, once it has run.
class Expected {
 public:
  explicit Expected(Head& head) : head_(head), weights_(kLength * kLength), slopes_(weights_) {
    for (int i = 0; i < kLength; ++i) {
      double sum = 0, mean = 0;
      for (int j = 0; j < kLength; ++j) {
        sum += weights_[i * kLength + j] = std::exp(of_row(head.queries, i, head.keys, j) / 8);
      }
      for (int j = 0; j < kLength; ++j) {
        double& weight = weights_[i * kLength + j];
        weight /= sum;
        mean += weight * of_row(head.gradients, i, head.values, j);
      }
      for (int j = 0; j < kLength; ++j) {
        slopes_[i * kLength + j] =
            weights_[i * kLength + j] * (of_row(head.gradients, i, head.values, j) - mean) / 8;
      }
      head.logs[i] = static_cast<float>(std::log(sum));
      head.means[i] = static_cast<float>(mean);
    }
  }

  bool is_met() {
    double worst = 0;
    for (int i = 0; i < kLength; ++i) {
      for (int c = 0; c < kWidth; ++c) {
        double query = 0, key = 0, value = 0;
        for (int j = 0; j < kLength; ++j) {
          query += slopes_[i * kLength + j] * at(head_.keys, j, c);
          key += slopes_[j * kLength + i] * at(head_.queries, j, c);
          value += weights_[j * kLength + i] * at(head_.gradients, j, c);
        }
        const int place = i * kWidth + c;
        worst = std::fmax(worst, std::fabs(query - head_.of_queries[place]));
        worst = std::fmax(worst, std::fabs(key - head_.of_keys[place]));
        worst = std::fmax(worst, std::fabs(value - head_.of_values[place]));
      }
    }
    return worst < 1e-3;  // weights and slopes are halves
  }

 private:
  static double at(Buffer<__half>& data, int row, int column) {
    return __half2float(data[row * kWidth + column]);
  }
  static double of_row(Buffer<__half>& a, int i, Buffer<__half>& b, int j) {
    return dot(a + i * kWidth, b + j * kWidth);
  }

  Head& head_;
  std::vector<double> weights_, slopes_;
};

int main(int count, char** arguments) {
  const int defect = defect_of(count, arguments, kNames);
  Head head;
  for (int i = 0; i < kLength * kWidth; ++i) {
    head.queries[i] = __float2half((i * 7 % 23 - 11) / 16.0f);
    head.keys[i] = __float2half((i * 5 % 19 - 9) / 16.0f);
    head.values[i] = __float2half((i * 3 % 17 - 8) / 8.0f);
    head.gradients[i] = __float2half((i * 11 % 13 - 6) / 8.0f);
  }
  Expected expected(head);
  const auto map = [](Buffer<__half>& data) {
    return map_of(CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, data, kLength, kWidth, kSide, kWidth,
                  CU_TENSOR_MAP_SWIZZLE_128B);
  };
  require(cudaFuncSetAttribute(go_back, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes));
  go_back<<<kLength / kSide, kThreads, kSharedBytes>>>(
      map(head.queries), map(head.keys), map(head.values), map(head.gradients), head.logs,
      head.means, head.of_queries, head.of_keys, head.of_values, defect);
  finish();
  return verdict(expected.is_met());
}
