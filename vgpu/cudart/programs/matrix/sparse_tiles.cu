// Products of a matrix of which half of each row is zero: mma.sp, with metadata that the host packs
// as libraries do.  The tile is brought to shared memory by one half of the block, and metadata by
// the other.
// arch: compute_80
// MUTANT: no barrier before metadata is read.
// expect: data-race
#include <cuda_fp16.h>

#include <cstdint>
#include <vector>

#include "check.hpp"

constexpr int kM = 16, kN = 8;

// A row-major m x k matrix without its zeros, and the places of what is left in each chunk.
template <typename T>
struct Sparse {
  Sparse(int k, int chunk, int kept) : k(k), chunk(chunk), kept(kept), dense(kM * k) {
    for (int row = 0; row < kM; ++row) {
      for (int begin = 0; begin < k; begin += chunk) keep(row, begin);
    }
  }
  // Pairs of neighbours stay together where a chunk has eight elements.
  void keep(int row, int begin) {
    const int wide = chunk == 8 ? 2 : 1, places = chunk / wide;
    const int first = (row + begin / chunk) % (places - kept / wide + 1);
    const int second =
        first + 1 + (row * 5 + begin) % (places - first - 1 > 0 ? places - first - 1 : 1);
    std::uint32_t bits = 0;
    for (int i = 0; i < kept; ++i) {
      const int place = (i / wide == 0 ? first : second) * wide + i % wide;
      dense[row * k + begin + place] = T((row * 7 + begin + 3 * i) % 11 - 5);
      packed.push_back(dense[row * k + begin + place]);
    }
    // Two bits for each; a tf32 stands for two halves, of which both are named.
    bits = chunk == 2 ? (first == 0 ? 0x4 : 0xe) : first | second << 2;
    chunks.push_back(bits);
  }
  // The word of metadata that lane `lane` has, if the lanes that `selector` names have them.
  std::uint32_t metadata(int lane, int selector) const {
    const int per_row = k / chunk, group = lane / 4, at = lane % 4;
    std::uint32_t word = 0;
    const auto place = [&](int row, int first, int count, int shift) {
      for (int i = 0; i < count; ++i) {
        word |= chunks[row * per_row + first + i] << (shift + 4 * i);
      }
    };
    if (per_row == 4 && at == selector) {  // one of four lanes, both rows
      place(group, 0, 4, 0);
      place(group + 8, 0, 4, 16);
    } else if (per_row == 8 && sizeof(T) >= 2 && at / 2 == selector) {  // two, by columns
      place(group, at % 2 * 4, 4, 0);
      place(group + 8, at % 2 * 4, 4, 16);
    } else if (per_row == 8 && sizeof(T) < 2 && at / 2 == selector) {  // two, by rows
      place(group + at % 2 * 8, 0, 8, 0);
    } else if (per_row == 16) {  // all
      place(group + at % 2 * 8, at / 2 * 8, 8, 0);
    }
    return word;
  }
  int k, chunk, kept;
  std::vector<T> dense, packed;
  std::vector<std::uint32_t> chunks;
};

struct Shared {
  alignas(16) unsigned metadata[32];
  alignas(16) float c[kM * kN];
};

// `wide` registers of a, `tall` ones of b, elements of `bytes` in rows of words.
template <int kWide, int kTall, class Multiply>
__device__ void tile(const unsigned* a, const unsigned* b, const unsigned* metadata, float* out,
                     Multiply multiply) {
  __shared__ Shared shared;
  const int t = threadIdx.x, lane = t % 32, group = lane / 4, at = lane % 4;
  if (t >= 32) shared.metadata[lane] = metadata[lane];  //~
  for (int i = t; i < kM * kN; i += blockDim.x) shared.c[i] = i % 3;
#ifndef MUTANT
  __syncthreads();
#endif
  if (t >= 32) return;
  unsigned x[4] = {}, y[4] = {};
  const int words_a = kWide * 2, words_b = kTall * 4;  // of a row of a, a column of b
  for (int i = 0; i < kWide; ++i) x[i] = a[(group + i % 2 * 8) * words_a + at + i / 2 * 4];
  for (int i = 0; i < kTall; ++i) y[i] = b[group * words_b + at + i * 4];
  float d[4];
  const float c0 = (group * kN + at * 2) % 3, c1 = (group * kN + at * 2 + 1) % 3;
  const float c2 = ((group + 8) * kN + at * 2) % 3, c3 = ((group + 8) * kN + at * 2 + 1) % 3;
  multiply(d, x, y, shared.metadata[lane], c0, c1, c2, c3);  //~
  for (int i = 0; i < 4; ++i) out[(group + i / 2 * 8) * kN + at * 2 + i % 2] = d[i];
}

#define FLOATS(shape, types, selector)                                                             \
  [](float* d, const unsigned* x, const unsigned* y, unsigned metadata, float c0, float c1,        \
     float c2, float c3) {                                                                         \
    asm volatile("mma.sp::ordered_metadata.sync.aligned." shape ".row.col.f32." types              \
                 ".f32 {%0, %1, %2, %3}, "                                                         \
                 "{%4, %5}, {%6, %7}, {%8, %9, %10, %11}, %12, " selector ";"                      \
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                  \
                 : "r"(x[0]), "r"(x[1]), "r"(y[0]), "r"(y[1]), "f"(c0), "f"(c1), "f"(c2), "f"(c3), \
                   "r"(metadata));                                                                 \
  }
#define LONG_FLOATS(shape, types, selector)                                                       \
  [](float* d, const unsigned* x, const unsigned* y, unsigned metadata, float c0, float c1,       \
     float c2, float c3) {                                                                        \
    asm volatile("mma.sp::ordered_metadata.sync.aligned." shape ".row.col.f32." types             \
                 ".f32 {%0, %1, %2, %3}, "                                                        \
                 "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, " selector ";" \
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                                 \
                 : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(y[2]),   \
                   "r"(y[3]), "f"(c0), "f"(c1), "f"(c2), "f"(c3), "r"(metadata));                 \
  }
#define BYTES(d, x, y, metadata, c0, c1, c2, c3)                                                \
  int sum[4];                                                                                   \
  asm volatile(                                                                                 \
      "mma.sp.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, "                   \
      "{%4, %5, %6, %7}, {%8, %9, %10, %11}, {%12, %13, %14, %15}, %16, 0;"                     \
      : "=r"(sum[0]), "=r"(sum[1]), "=r"(sum[2]), "=r"(sum[3])                                  \
      : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "r"(y[2]), "r"(y[3]), \
        "r"(int(c0)), "r"(int(c1)), "r"(int(c2)), "r"(int(c3)), "r"(metadata));                 \
  for (int i = 0; i < 4; ++i) d[i] = sum[i];

__global__ void halves(const unsigned* a, const unsigned* b, const unsigned* e, float* out) {
  tile<2, 2>(a, b, e, out, FLOATS("m16n8k16", "f16.f16", "2"));
}
__global__ void long_halves(const unsigned* a, const unsigned* b, const unsigned* e, float* out) {
  tile<4, 4>(a, b, e, out, LONG_FLOATS("m16n8k32", "f16.f16", "1"));
}
__global__ void floats(const unsigned* a, const unsigned* b, const unsigned* e, float* out) {
  tile<4, 4>(a, b, e, out, LONG_FLOATS("m16n8k16", "tf32.tf32", "0"));
}
__global__ void bytes(const unsigned* a, const unsigned* b, const unsigned* e, float* out) {
  tile<4, 4>(a, b, e, out,
             [](float* d, const unsigned* x, const unsigned* y, unsigned metadata, float c0,
                float c1, float c2, float c3) { BYTES(d, x, y, metadata, c0, c1, c2, c3) });
}

template <typename T, class Kernel>
bool agrees(Kernel kernel, int k, int chunk, int kept, int selector) {
  const Sparse<T> sparse(k, chunk, kept);
  Buffer<T> a(sparse.packed.size()), b(k * kN);
  Buffer<unsigned> metadata(32);
  Buffer<float> out(kM * kN);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = sparse.packed[i];
  for (int i = 0; i < k * kN; ++i) b[i] = T(i % 13 - 6);  // column by column
  for (int lane = 0; lane < 32; ++lane) metadata[lane] = sparse.metadata(lane, selector);
  kernel<<<1, 64>>>(reinterpret_cast<unsigned*>(a.begin()), reinterpret_cast<unsigned*>(b.begin()),
                    metadata, out);
  finish();
  for (int row = 0; row < kM; ++row) {
    for (int column = 0; column < kN; ++column) {
      float sum = (row * kN + column) % 3;
      for (int i = 0; i < k; ++i) {
        sum +=
            static_cast<float>(sparse.dense[row * k + i]) * static_cast<float>(b[column * k + i]);
      }
      if (out[row * kN + column] != sum) return false;
    }
  }
  return true;
}

int main() {
  bool is_right = agrees<__half>(halves, 16, 4, 2, 2) && agrees<__half>(long_halves, 32, 4, 2, 1);
  is_right &= agrees<float>(floats, 16, 2, 1, 0) && agrees<signed char>(bytes, 64, 4, 2, 0);
  return verdict(is_right);
}
