// Tiles as sm_100a brings them: rows that are no neighbours, there and back; elements of 4 and 6
// bits; swizzling in units of 32 and 64 bytes; and matrices of bytes, transposed and unpacked.
// arch: compute_100a
// MUTANT: rows are read before the phase of the copy.
// expect: data-race
#include <cuda.h>

#include <cstdint>

#include "check.hpp"

__device__ unsigned at(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

__device__ void begin(std::uint64_t* object, unsigned bytes) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(object)) : "memory");
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(object)),
               "r"(bytes)
               : "memory");
}

__device__ void wait(std::uint64_t* object) {
  for (int done = 0; done == 0;) {
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.b32 %0, 1, 0, p;}"
        : "=r"(done)
        : "r"(at(object))
        : "memory");
  }
}

#define TILE(shared, map, x, y, object)                                                     \
  asm volatile(                                                                             \
      "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], " \
      "[%1, {%2, %3}], [%4];" ::"r"(at(shared)),                                            \
      "l"(map), "r"(x), "r"(y), "r"(at(object))                                             \
      : "memory")
#define GATHER(shared, map, column, rows, object)                                                \
  asm volatile(                                                                                  \
      "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes "   \
      "[%0], [%1, {%2, %3, %4, %5, %6}], [%7];" ::"r"(at(shared)),                               \
      "l"(map), "r"(column), "r"(rows.x), "r"(rows.y), "r"(rows.z), "r"(rows.w), "r"(at(object)) \
      : "memory")
#define SCATTER(map, column, rows, shared)                                                      \
  asm volatile(                                                                                 \
      "cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%0, {%1, %2, %3, " \
      "%4, %5}], [%6];" ::"l"(map),                                                             \
      "r"(column), "r"(rows.x), "r"(rows.y), "r"(rows.z), "r"(rows.w), "r"(at(shared))          \
      : "memory")

constexpr int kWidth = 64, kHeight = 16, kBox = 32;  // ints

// Rows of `from`, each number greater by one, to other rows.
__global__ void exchange(const __grid_constant__ CUtensorMap from,
                         const __grid_constant__ CUtensorMap to, int4 read, int4 written) {
  __shared__ alignas(128) int rows[4][kBox];
  __shared__ std::uint64_t object;
  const int t = threadIdx.x;
  if (t == 0) {
    begin(&object, sizeof rows);
    GATHER(rows, &from, 16, read, &object);  //~
  }
  __syncthreads();
#ifndef MUTANT
  wait(&object);
#endif
  rows[t / kBox][t % kBox] += 1;  //~
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  if (t != 0) return;
  SCATTER(&to, 32, written, rows);
  asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
}

// The first `bytes` bytes of each row of a box, as they lie in shared memory.
__global__ void bring(const __grid_constant__ CUtensorMap map, unsigned counted, unsigned pitch,
                      unsigned data, unsigned unit, unsigned char* out) {
  __shared__ alignas(1024) unsigned char tile[8 * 128];
  __shared__ std::uint64_t object;
  if (threadIdx.x == 0) {
    begin(&object, counted);
    TILE(tile, &map, 0, 0, &object);
  }
  __syncthreads();
  wait(&object);
  for (unsigned i = threadIdx.x; i < 8 * pitch; i += blockDim.x) {
    out[i] = i % unit < data ? tile[i] : 0;  // what follows the data of a unit is not defined
  }
}

// A matrix of 16 rows and 8 columns of bytes leaves transposed; one of 16 x 16 elements of 6 bits
// is unpacked and transposed.
__global__ void move_bytes(unsigned char* out, const unsigned char* packed, unsigned* unpacked) {
  __shared__ alignas(16) unsigned char rows[8][16];
  __shared__ alignas(16) unsigned char squares[16][16];
  const unsigned lane = threadIdx.x;
  unsigned word = 0;
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned row = lane / 4 + i / 2 * 8, column = lane % 4 * 2 + i % 2;
    word |= (row * 8 + column) << 8 * i;
  }
  asm volatile(
      "stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%0], {%1};" ::"r"(at(rows[lane % 8])),
      "r"(word)
      : "memory");
  for (unsigned i = lane; i < 256; i += 32) {
    if (i % 16 < 12) squares[i / 16][i % 16] = packed[i / 16 * 12 + i % 16];
  }
  __syncwarp();
  for (unsigned i = lane; i < 128; i += 32) out[i] = rows[i / 16][i % 16];
  unsigned low, high;
  asm volatile("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8x16.b6x16_p32 {%0, %1}, [%2];"
               : "=r"(low), "=r"(high)
               : "r"(at(squares[lane % 16]))
               : "memory");
  unpacked[2 * lane] = low;
  unpacked[2 * lane + 1] = high;
}

CUtensorMap map_of(CUtensorMapDataType type, void* data, cuuint64_t columns, cuuint64_t rows,
                   cuuint64_t pitch, cuuint32_t box_columns, cuuint32_t box_rows,
                   CUtensorMapSwizzle swizzle) {
  using Encode = decltype(&cuTensorMapEncodeTiled);
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found{};
  require(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000,
                                           cudaEnableDefault, &found));
  const cuuint64_t size[] = {columns, rows}, stride[] = {pitch};
  const cuuint32_t box[] = {box_columns, box_rows}, step[] = {1, 1};
  CUtensorMap map{};
  const CUresult result = reinterpret_cast<Encode>(encode)(
      &map, type, 2, data, size, stride, box, step, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
      CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) std::exit(1);
  return map;
}

bool exchanges_rows() {
  Buffer<int> from(kWidth * kHeight), to(kWidth * kHeight);
  for (int i = 0; i < kWidth * kHeight; ++i) from[i] = i;
  const auto map = [](Buffer<int>& data) {
    return map_of(CU_TENSOR_MAP_DATA_TYPE_INT32, data, kWidth, kHeight, kWidth * 4, kBox, 1,
                  CU_TENSOR_MAP_SWIZZLE_NONE);
  };
  const int read[] = {9, 2, kHeight, 5}, written[] = {3, 11, 7, 0};  // the third is not there
  exchange<<<1, 4 * kBox>>>(map(from), map(to), make_int4(9, 2, kHeight, 5),
                            make_int4(3, 11, 7, 0));
  finish();
  bool is_right = true;
  for (int i = 0; i < kWidth * kHeight; ++i) {
    int expected = 0;
    for (int row = 0; row < 4; ++row) {
      const int x = i % kWidth;
      if (i / kWidth != written[row] || x < 32) continue;
      expected = 1 + (read[row] < kHeight ? read[row] * kWidth + x - 16 : 0);
    }
    is_right &= to[i] == expected;
  }
  return is_right;
}

struct Layout {
  CUtensorMapDataType type;
  CUtensorMapSwizzle swizzle;
  unsigned elements, data, unit;  // in a row; bytes of data in a unit of shared memory
  unsigned atom;                  // that swizzling moves as a whole; 0: none
};

bool brings(const Layout& layout) {
  constexpr unsigned kRows = 8, kPitch = 128;
  Buffer<unsigned char> data(kRows * kPitch), out(kRows * 128);
  for (unsigned i = 0; i < kRows * kPitch; ++i) data[i] = i * 7 % 251;
  const CUtensorMap map = map_of(layout.type, data, layout.elements, kRows, kPitch, layout.elements,
                                 kRows, layout.swizzle);
  const bool is_padded = layout.data != layout.unit;
  const unsigned units = is_padded ? layout.elements / 16 : 0;
  const unsigned pitch = is_padded ? units * layout.unit : layout.unit;
  bring<<<1, 64>>>(map, kRows * (is_padded ? units * layout.data : layout.data), pitch,
                   is_padded ? layout.data : pitch, layout.unit, out);
  finish();
  bool is_right = true;
  for (unsigned i = 0; i < kRows * pitch; ++i) {
    const unsigned row = i / pitch, place = i % pitch;
    const unsigned byte =
        layout.atom == 0 ? place : place ^ row % (128 / layout.atom) * layout.atom;
    const bool is_data = !is_padded || byte % layout.unit < layout.data;
    const unsigned source =
        is_padded ? byte / layout.unit * layout.data + byte % layout.unit : byte;
    is_right &= out[i] == (is_data ? data[row * kPitch + source] : 0);
  }
  return is_right;
}

bool moves_bytes() {
  Buffer<unsigned char> out(128), packed(16 * 12);
  Buffer<unsigned> unpacked(64);
  const auto element = [](unsigned row, unsigned column) { return (row * 5 + column * 3) % 64; };
  for (unsigned i = 0; i < 256; ++i) {
    const unsigned first = i % 16 * 6, value = element(i / 16, i % 16) << first % 8;
    packed[i / 16 * 12 + first / 8] |= value & 0xff;
    if (value > 0xff) packed[i / 16 * 12 + first / 8 + 1] |= value >> 8;
  }
  move_bytes<<<1, 32>>>(out, packed, unpacked);
  finish();
  bool is_right = true;
  for (unsigned i = 0; i < 128; ++i) is_right &= out[i] == i % 16 * 8 + i / 16;
  for (unsigned i = 0; i < 256; ++i) {
    const unsigned lane = i / 8, part = i % 4, column = lane / 4 + i / 4 % 2 * 8;
    is_right &= (unpacked[i / 4] >> 8 * part & 0xff) == element(lane % 4 * 4 + part, column);
  }
  return is_right;
}

int main() {
  const Layout layouts[] = {
      {CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN8B, CU_TENSOR_MAP_SWIZZLE_NONE, 128, 64, 64, 0},
      {CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B, CU_TENSOR_MAP_SWIZZLE_NONE, 128, 8, 16, 0},
      {CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B, CU_TENSOR_MAP_SWIZZLE_128B, 128, 12, 16, 16},
      {CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_32B, 128, 128, 128, 32},
      {CU_TENSOR_MAP_DATA_TYPE_UINT8, CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B, 128, 128, 128, 64},
  };
  bool is_right = exchanges_rows() & moves_bytes();
  for (const Layout& layout : layouts) is_right &= brings(layout);
  return verdict(is_right);
}
