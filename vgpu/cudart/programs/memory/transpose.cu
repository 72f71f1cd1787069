// A matrix transposed by tiles in shared memory, whose rows are padded against bank conflicts;
// sizes that are no multiples of a tile.
// MUTANT: a tile is read before all of its block have written it.
// expect: data-race
#include "check.hpp"

constexpr int kTile = 16, kRows = 4;

__global__ void transpose(const float* in, float* out, int width, int height) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) {
    if (x < width && y + i < height)
      tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * width + x];  //~
  }
#ifndef MUTANT
  __syncthreads();
#endif
  x = blockIdx.y * kTile + threadIdx.x, y = blockIdx.x * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) {
    if (x < height && y + i < width)
      out[(y + i) * height + x] = tile[threadIdx.x][threadIdx.y + i];  //~
  }
}

int main() {
  constexpr int kWidth = 70, kHeight = 45;
  Buffer<float> in(kWidth * kHeight), out(kWidth * kHeight);
  for (int i = 0; i < kWidth * kHeight; ++i) in[i] = i;
  const dim3 grid((kWidth + kTile - 1) / kTile, (kHeight + kTile - 1) / kTile);
  transpose<<<grid, dim3(kTile, kRows)>>>(in, out, kWidth, kHeight);
  finish();
  bool is_right = true;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) is_right &= out[x * kHeight + y] == in[y * kWidth + x];
  }
  return verdict(is_right);
}
