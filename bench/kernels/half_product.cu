// cp.async needs sm_80; on older devices it is an ordinary copy.
#include "bench/kernels/half_product.hpp"

#include <cuda_fp16.h>
#include <cuda_pipeline.h>

namespace {

constexpr int kTile = 16;

// Each of 16 x 16 threads has four elements of a tile of 32 x 32; the next tiles are copied while
// these are used.
__global__ void bench_half_product(const __half* a, const __half* b, int* out) {
  constexpr int kSide = bench::kHalfSide, kWide = 2 * kTile;
  constexpr int kChunk = 8;  // halves that a thread copies at once
  __shared__ alignas(16) __half rows[2][kWide][kWide], columns[2][kWide][kWide];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int t = y * kTile + x;
  const int row = static_cast<int>(blockIdx.y) * kWide,
            column = static_cast<int>(blockIdx.x) * kWide;
  const auto fetch = [&](int tile, int buffer) {
    const int chunk = t % (kWide * kWide / kChunk);
    const int i = chunk / (kWide / kChunk), j = chunk % (kWide / kChunk) * kChunk;
    const bool is_row = t < kWide * kWide / kChunk;
    const __half* from =
        is_row ? &a[(row + i) * kSide + tile + j] : &b[(tile + i) * kSide + column + j];
    __pipeline_memcpy_async(is_row ? &rows[buffer][i][j] : &columns[buffer][i][j], from, 16);
    __pipeline_commit();
  };
  float sum[2][2] = {};
  fetch(0, 0);
  for (int tile = 0, buffer = 0; tile < kSide; tile += kWide, buffer ^= 1) {
    if (tile + kWide < kSide) {
      fetch(tile + kWide, buffer ^ 1);
      __pipeline_wait_prior(1);
    } else {
      __pipeline_wait_prior(0);
    }
    __syncthreads();
    for (int k = 0; k < kWide; ++k) {
      for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
          sum[i][j] += __half2float(rows[buffer][y + kTile * i][k]) *
                       __half2float(columns[buffer][k][x + kTile * j]);
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 2; ++j) {
      out[(row + y + kTile * i) * kSide + column + x + kTile * j] = static_cast<int>(sum[i][j]);
    }
  }
}

}  // namespace

cudaError_t bench::half_product(const int* in, int* out, int /*n*/) {
  constexpr int kTiles = kHalfSide / (2 * kTile);
  const dim3 tiles(kTiles, kTiles), threads(kTile, kTile);
  const auto* const a = reinterpret_cast<const __half*>(in);
  bench_half_product<<<tiles, threads>>>(a, a + kHalfSide * kHalfSide, out);
  return cudaGetLastError();
}
