// A product of 8-bit floats in blocks of 32 with a scale each (sm_120a): tiles are brought by
// groups of asynchronous copies through two stages, read by ldmatrix, and multiplied by their
// scales.
//
// A run without an argument is right.  With one it has that defect:
// clang-format off
// arch: compute_120a
// defect no_wait: data-race; the asynchronous copy (1) was not waited for and passed on by its own thread before (2)
// defect waits_for_one_less: data-race; the asynchronous copy (1) was not waited for and passed on by its own thread before (2)
// defect no_barrier: data-race; the asynchronous copy (1) was not waited for and passed on by its own thread before (2)
// defect wrong_stage: data-race; the asynchronous copy (1) was not waited for and passed on by its own thread before (2)
// defect no_barrier_before_refill: data-race; the asynchronous copy (1) was not waited for and passed on by its own thread before (2)
// clang-format on
#include <cuda_fp8.h>

#include "asynchronous.cuh"

constexpr int kRows = 64, kColumns = 32, kDepth = 512;  // of the whole, which one block computes
constexpr int kTileDepth = 128, kBlock = 32, kStages = 2, kSteps = kDepth / kTileDepth;
constexpr int kThreads = 128, kScales = kDepth / kBlock;
constexpr int kTileBytes = (kRows + kColumns) * kTileDepth;

enum Defect {
  none,
  no_wait,
  waits_for_one_less,
  no_barrier,
  wrong_stage,
  no_barrier_before_refill
};
const char* const kNames[] = {"",           "no_wait",     "waits_for_one_less",
                              "no_barrier", "wrong_stage", "no_barrier_before_refill"};

// Chunks of 16 bytes lie crosswise, so that eight rows of a column of chunks are in all banks.
__device__ std::uint32_t place(int row, int byte) {
  return row * kTileDepth + ((byte / 16 ^ row % 8) * 16) + byte % 16;
}

#define COPY(shared, global)                                                       \
  asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16;" ::"r"(shared), \
               "l"(__cvta_generic_to_global(global))                               \
               : "memory")

#define LOAD_A(words, address)                                                    \
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];" \
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])   \
               : "r"(address)                                                     \
               : "memory")
#define LOAD_B(words, address)                                            \
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];" \
               : "=r"(words[0]), "=r"(words[1])                           \
               : "r"(address)                                             \
               : "memory")

__global__ void __launch_bounds__(kThreads)
    multiply(const std::uint8_t* a, const std::uint8_t* b, const std::uint8_t* scales_a,
             const std::uint8_t* scales_b, float* c, int defect) {
  __shared__ alignas(128) std::uint8_t tiles[kStages * kTileBytes];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const auto bring = [&](int step) {
    if (step < kSteps) {
      const std::uint32_t to = ADDRESS(tiles) + step % kStages * kTileBytes;
      for (int i = threadIdx.x; i < kTileBytes / 16; i += kThreads) {
        const int row = i * 16 / kTileDepth, byte = i * 16 % kTileDepth;
        const std::uint8_t* const from =
            row < kRows ? a + row * kDepth : b + (row - kRows) * kDepth;
        COPY(to + place(row, byte), from + step * kTileDepth + byte);  //~
      }
    }
    DO("cp.async.commit_group;");
  };
  bring(0);
  float d[kColumns / 8][4] = {};
  for (int step = 0; step < kSteps; ++step) {
    UNLESS(no_barrier_before_refill) __syncthreads();
    bring(step + 1);
    if (defect == waits_for_one_less) {
      DO("cp.async.wait_group 2;");
    } else if (defect != no_wait) {
      DO("cp.async.wait_group 1;");
    }
    UNLESS(no_barrier) __syncthreads();
    const int stage = (step + (defect == wrong_stage ? 1 : 0)) % kStages;
    const std::uint32_t tile = ADDRESS(tiles) + stage * kTileBytes;
    // Of a, every other lane has the scale of a row; of b, every fourth one that of a column.
    const int scaled_row = warp * 16 + lane / 4 + lane % 2 * 8;
    std::uint32_t scale_a;
    std::memcpy(&scale_a, scales_a + scaled_row * kScales + step * 4, 4);
    for (int k = 0; k < kTileDepth / kBlock; ++k) {
      std::uint32_t from_a[4];
      LOAD_A(from_a, tile + place(warp * 16 + lane % 16, k * kBlock + lane / 16 * 16));  //~
      for (int n = 0; n < kColumns / 8; ++n) {
        std::uint32_t from_b[2], scale_b;
        const int row = kRows + n * 8 + lane % 8, byte = k * kBlock + lane / 8 % 2 * 16;
        LOAD_B(from_b, tile + place(row, byte));  //~
        std::memcpy(&scale_b, scales_b + (n * 8 + lane / 4) * kScales + step * 4, 4);
        asm volatile(
            "mma.sync.aligned.kind::mxf8f6f4.block_scale.scale_vec::1X.m16n8k32.row.col.f32.e4m3."
            "e4m3.f32.ue8m0 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3}, "
            "{%10}, {%12, 0}, {%11}, {%12, 0};"
            : "+f"(d[n][0]), "+f"(d[n][1]), "+f"(d[n][2]), "+f"(d[n][3])
            : "r"(from_a[0]), "r"(from_a[1]), "r"(from_a[2]), "r"(from_a[3]), "r"(from_b[0]),
              "r"(from_b[1]), "r"(scale_a), "r"(scale_b), "h"(static_cast<std::uint16_t>(k)));
      }
    }
  }
  for (int n = 0; n < kColumns / 8; ++n) {
    for (int i = 0; i < 4; ++i) {
      c[(warp * 16 + lane / 4 + i / 2 * 8) * kColumns + n * 8 + lane % 4 * 2 + i % 2] = d[n][i];
    }
  }
}

int main(int count, char** arguments) {
  const int defect = defect_of(count, arguments, kNames);
  Buffer<std::uint8_t> a(kRows * kDepth), b(kColumns * kDepth);
  Buffer<std::uint8_t> scales_a(kRows * kScales), scales_b(kColumns * kScales);
  Buffer<float> c(kRows * kColumns);
  const auto number = [](std::uint8_t bits) {
    __nv_fp8_e4m3 float8;
    float8.__x = bits;
    return static_cast<double>(static_cast<float>(float8));
  };
  for (int i = 0; i < kRows * kDepth; ++i) a[i] = __nv_fp8_e4m3(float(i * 7 % 11 - 5)).__x;
  for (int i = 0; i < kColumns * kDepth; ++i) b[i] = __nv_fp8_e4m3(float(i * 5 % 7 - 3)).__x;
  for (int i = 0; i < kRows * kScales; ++i) scales_a[i] = 126 + i * 3 % 4;
  for (int i = 0; i < kColumns * kScales; ++i) scales_b[i] = 125 + i * 5 % 4;
  multiply<<<1, kThreads>>>(a, b, scales_a, scales_b, c, defect);
  finish();
  bool is_right = true;
  for (int i = 0; i < kRows * kColumns; ++i) {
    double sum = 0;
    for (int k = 0; k < kDepth; ++k) {
      const int row = i / kColumns, column = i % kColumns;
      const int scale =
          scales_a[row * kScales + k / kBlock] + scales_b[column * kScales + k / kBlock];
      sum += number(a[row * kDepth + k]) * number(b[column * kDepth + k]) *
             std::ldexp(1.0, scale - 254);
    }
    is_right &= c[i] == sum;
  }
  return verdict(is_right);
}
