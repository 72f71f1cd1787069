// Sums of columns in shared memory that one thread clears by st.bulk, a tile after the other; rows
// of 16 bytes are read as matrices of bytes, transposed (ldmatrix of m16n16).
// arch: compute_100a
// MUTANT: nobody waits for the tile to be cleared.
// expect: data-race
#include <cuda/ptx>

#include "check.hpp"

constexpr int kSide = 16, kTiles = 5;

__device__ unsigned address(const void* pointer) {
  return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}

__global__ void column_sums(const unsigned char* tiles, unsigned* out) {
  __shared__ alignas(16) unsigned char tile[kSide][kSide];
  __shared__ alignas(8) unsigned sums[kSide];
  const int t = threadIdx.x;
  unsigned total = 0;
  for (int number = 0; number < kTiles; ++number) {
    for (int i = t; i < kSide * kSide; i += 32) {
      tile[i / kSide][i % kSide] = tiles[number * kSide * kSide + i];
    }
    if (t == 0) cuda::ptx::st_bulk(sums, sizeof sums, cuda::ptx::n32_t<0>{});  //~
#ifndef MUTANT
    __syncwarp();
#endif
    unsigned low = 0, high = 0;
    asm volatile("ldmatrix.sync.aligned.m16n16.x1.trans.shared.b8 {%0, %1}, [%2];"
                 : "=r"(low), "=r"(high)
                 : "r"(address(tile[t % kSide]))
                 : "memory");
    // Four rows of column t / 4, and of the one that is 8 further.
    atomicAdd(&sums[t / 4], __dp4a(low, 0x01010101u, 0u));  //~
    atomicAdd(&sums[t / 4 + 8], __dp4a(high, 0x01010101u, 0u));
    __syncwarp();
    if (t < kSide) total += sums[t];
    __syncwarp();
  }
  if (t < kSide) out[t] = total;
}

// Elements of 6 and of 4 bits, each in a byte of its own.
__global__ void unpack(const uint4* rows, uint2* out) {
  __shared__ alignas(16) uint4 packed[8];
  const int t = threadIdx.x;
  if (t < 8) packed[t] = rows[t];
  __syncwarp();
  unsigned six = 0, four = 0;
  asm volatile("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b6x16_p32 {%0}, [%1];"
               : "=r"(six)
               : "r"(address(&packed[t % 8])));
  asm volatile("ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%0}, [%1];"
               : "=r"(four)
               : "r"(address(&packed[t % 8])));
  out[t] = make_uint2(six, four);
}

bool sums_columns() {
  Buffer<unsigned char> tiles(kTiles * kSide * kSide);
  Buffer<unsigned> out(kSide);
  for (std::size_t i = 0; i < tiles.size(); ++i)
    tiles[i] = static_cast<unsigned char>(i * 37 % 251);
  column_sums<<<1, 32>>>(tiles, out);
  finish();
  bool is_right = true;
  for (int column = 0; column < kSide; ++column) {
    unsigned sum = 0;
    for (int row = 0; row < kTiles * kSide; ++row) sum += tiles[row * kSide + column];
    is_right &= out[column] == sum;
  }
  return is_right;
}

bool unpacks() {
  Buffer<unsigned char> rows(8 * 16);
  Buffer<uint2> out(32);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<unsigned char>(i * 91 + 7);
  unpack<<<1, 32>>>(reinterpret_cast<uint4*>(rows.begin()), out);
  finish();
  const auto bits_at = [&](int row, int first, int count) {
    unsigned bits = 0;
    for (int i = 0; i < count; ++i) {
      bits |= (rows[row * 16 + (first + i) / 8] >> (first + i) % 8 & 1u) << i;
    }
    return bits;
  };
  bool is_right = true;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 4; ++i) {
      const int element = lane % 4 * 4 + i;
      is_right &= (out[lane].x >> 8 * i & 0xff) == bits_at(lane / 4, 6 * element, 6);
      is_right &= (out[lane].y >> 8 * i & 0xff) == bits_at(lane / 4, 4 * element, 4) << 2;
    }
  }
  return is_right;
}

int main() { return verdict(sums_columns() && unpacks()); }
