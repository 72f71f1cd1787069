// Products of one warp whose rows and columns have a factor for each block (mma with .block_scale,
// of sm_120a): floats of 8 and of 4 bits, factors that are powers of two or floats of 8 bits, which
// lie in chosen lanes and bytes.  The host decodes all of them by the functions of the toolkit's
// headers and adds up in double precision, without error.
// arch: compute_120a
#include <cuda_fp16.h>
#include <cuda_fp4.h>
#include <cuda_fp8.h>

#include <cmath>
#include <cstdint>

#include "check.hpp"

constexpr int kRows = 16, kColumns = 8;
enum Kind { bytes, nibbles, nibbles_by_bytes };  // mxf8f6f4, mxf4, mxf4nvf4

#define PRODUCT(mnemonic, byte_a, lane_a, byte_b, lane_b)                                     \
  asm volatile(mnemonic                                                                       \
               " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%10, %11, %12, %13}, "        \
               "{%14}, {" byte_a ", " lane_a "}, {%15}, {" byte_b ", " lane_b "};"            \
               : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3])                               \
               : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]), "f"(z[0]), \
                 "f"(z[1]), "f"(z[2]), "f"(z[3]), "r"(scale_a[lane]), "r"(scale_b[lane]))

__global__ void multiply(const std::uint32_t* a, const std::uint32_t* b, const float* c,
                         const std::uint32_t* scale_a, const std::uint32_t* scale_b, float* out,
                         int kind) {
  const int lane = threadIdx.x;
  std::uint32_t x[4], y[2];
  float z[4], d[4];
  for (int i = 0; i < 4; ++i) x[i] = a[4 * lane + i];
  for (int i = 0; i < 2; ++i) y[i] = b[2 * lane + i];
  for (int i = 0; i < 4; ++i) z[i] = c[4 * lane + i];
  if (kind == bytes) {
    PRODUCT(
        "mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.scale_vec::1X.f32.e4m3."
        "e4m3.f32.ue8m0",
        "3", "1", "2", "3");
  } else if (kind == nibbles) {
    PRODUCT(
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.scale_vec::2X.f32.e2m1.e2m1."
        "f32.ue8m0",
        "2", "1", "0", "2");
  } else {
    PRODUCT(
        "mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::4X.f32.e2m1."
        "e2m1.f32.ue4m3",
        "0", "0", "0", "1");
  }
  for (int i = 0; i < 4; ++i) out[4 * lane + i] = d[i];
}

double value(std::uint32_t bits, Kind kind) {
  const auto byte = static_cast<std::uint8_t>(bits);
  const __half_raw half = kind == bytes ? __nv_cvt_fp8_to_halfraw(byte, __NV_E4M3)
                                        : __nv_cvt_fp4_to_halfraw(byte, __NV_E2M1);
  return __half2float(__half(half));
}

double factor(std::uint32_t bits, Kind kind) {
  if (kind != nibbles_by_bytes) return std::ldexp(1.0, static_cast<int>(bits) - 127);
  return __half2float(__half(__nv_cvt_fp8_to_halfraw(static_cast<std::uint8_t>(bits), __NV_E4M3)));
}

// Where a kind has the factors of a and b: the first byte, and the lane of each four.
struct Places {
  int blocks, byte_a, lane_a, byte_b, lane_b;
};
constexpr Places kPlaces[] = {{1, 3, 1, 2, 3}, {2, 2, 1, 0, 2}, {4, 0, 0, 0, 1}};

std::uint32_t state = 1;
std::uint32_t draw() {
  state = state * 1664525u + 1013904223u;
  return state >> 8;
}

struct Matrices {
  Buffer<std::uint32_t> a{32 * 4}, b{32 * 2}, scale_a{32}, scale_b{32};
  Buffer<float> c{32 * 4}, d{32 * 4};

  // whole: small numbers and factors, of which every sum is a float.
  void fill(Kind kind, bool whole) {
    const auto element = [&] {
      if (kind != bytes) return draw() % 16;
      const std::uint32_t byte = whole ? 0x38 + draw() % 16 : draw() % 0x7f;
      return byte | (draw() % 2) << 7;
    };
    const int bits = kind == bytes ? 8 : 4;
    const auto word = [&] {
      std::uint32_t all = 0;
      for (int at = 0; at < 32; at += bits) all |= element() << at;
      return all;
    };
    for (std::uint32_t& each : a) each = word();
    for (std::uint32_t& each : b) each = word();
    for (float& each : c) {
      each = whole ? static_cast<float>(draw() % 64) : std::ldexp(draw() % 4096 - 2048.0f, -4);
    }
    for (Buffer<std::uint32_t>* const scales : {&scale_a, &scale_b}) {
      for (std::uint32_t& each : *scales) {
        each = 0;
        for (int at = 0; at < 32; at += 8) {
          const std::uint32_t one = kind != nibbles_by_bytes ? 127 + draw() % (whole ? 2 : 9)
                                    : whole                  ? 0x38 + draw() % 2 * 8
                                                             : draw() % 0x7f;
          each |= one << at;
        }
      }
    }
  }

  bool is_product(Kind kind, bool whole) {
    const int depth = kind == bytes ? 32 : 64, parts = kind == bytes ? 4 : 8, bits = 32 / parts;
    const Places& at = kPlaces[kind];
    const auto part = [&](std::uint32_t word, int which) {
      return word >> which * bits & ((1u << bits) - 1);
    };
    bool is_right = true;
    for (int row = 0; row < kRows; ++row) {
      for (int column = 0; column < kColumns; ++column) {
        const int lane = row % 8 * 4 + column / 2, i = row / 8 * 2 + column % 2;
        double sum = c[4 * lane + i], size = std::fabs(sum);
        for (int k = 0; k < depth; ++k) {
          const int in_half = k % (depth / 2), quarter = in_half / parts;
          const int reg = k / (depth / 2), of_part = in_half % parts;
          const std::uint32_t x = a[(row % 8 * 4 + quarter) * 4 + reg * 2 + row / 8];
          const std::uint32_t y = b[(column * 4 + quarter) * 2 + reg];
          const int block = k / (depth / at.blocks);
          const std::uint32_t of_row = scale_a[row % 8 * 4 + 2 * at.lane_a + row / 8];
          const std::uint32_t of_column = scale_b[column * 4 + at.lane_b];
          const double term = value(part(x, of_part), kind) * value(part(y, of_part), kind) *
                              factor(of_row >> 8 * (at.byte_a + block) & 0xff, kind) *
                              factor(of_column >> 8 * (at.byte_b + block) & 0xff, kind);
          sum += term;
          size += std::fabs(term);
        }
        const double error = std::fabs(d[4 * lane + i] - sum);
        is_right &= error <= (whole ? 0 : (depth + 2) * std::ldexp(size, -23));
      }
    }
    return is_right;
  }
};

int main() {
  Matrices matrices;
  bool is_right = true;
  for (const Kind kind : {bytes, nibbles, nibbles_by_bytes}) {
    for (int round = 0; round < 6; ++round) {
      const bool whole = round % 2 == 0;
      matrices.fill(kind, whole);
      multiply<<<1, 32>>>(matrices.a, matrices.b, matrices.c, matrices.scale_a, matrices.scale_b,
                          matrices.d, kind);
      finish();
      is_right &= matrices.is_product(kind, whole);
    }
  }
  return verdict(is_right);
}
