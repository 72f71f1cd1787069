// Disparities of two pictures: four bytes of a pixel compared by one instruction, sums over a
// window of costs in shared memory, the best of several shifts.
// MUTANT: the costs of the next shift are written while others still sum up.
// expect: data-race
#include "check.hpp"

constexpr int kBlock = 16, kRadius = 2, kSide = kBlock + 2 * kRadius, kShifts = 5;

__global__ void match(const unsigned* left, const unsigned* right, int* shifts, int width,
                      int height) {
  __shared__ unsigned costs[kSide][kSide];
  const int x = blockIdx.x * kBlock + threadIdx.x, y = blockIdx.y * kBlock + threadIdx.y;
  unsigned best = ~0u;
  int best_shift = 0;
  for (int shift = 0; shift < kShifts; ++shift) {
    for (int i = threadIdx.y * kBlock + threadIdx.x; i < kSide * kSide; i += kBlock * kBlock) {
      const int column = blockIdx.x * kBlock + i % kSide - kRadius;
      const int row = min(max(int(blockIdx.y) * kBlock + i / kSide - kRadius, 0), height - 1);
      const unsigned a = left[row * width + min(max(column, 0), width - 1)];
      const unsigned b = right[row * width + min(max(column - shift, 0), width - 1)];
      costs[i / kSide][i % kSide] = __vsadu4(a, b);  //~
    }
    __syncthreads();
    unsigned cost = 0;
    for (int i = 0; i <= 2 * kRadius; ++i) {
      for (int j = 0; j <= 2 * kRadius; ++j) cost += costs[threadIdx.y + i][threadIdx.x + j];  //~
    }
    if (cost < best) best = cost, best_shift = shift;
#ifndef MUTANT
    __syncthreads();
#endif
  }
  if (x < width && y < height) shifts[y * width + x] = best_shift;
}

int main() {
  constexpr int kWidth = 40, kHeight = 20, kTrue = 3;
  Buffer<unsigned> left(kWidth * kHeight), right(kWidth * kHeight);
  Buffer<int> shifts(kWidth * kHeight);
  unsigned random = 1;
  for (unsigned& pixel : right) pixel = random = random * 1664525 + 1013904223;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = 0; x < kWidth; ++x) {
      left[y * kWidth + x] = right[y * kWidth + (x < kTrue ? 0 : x - kTrue)];
    }
  }
  const dim3 grid((kWidth + kBlock - 1) / kBlock, (kHeight + kBlock - 1) / kBlock);
  match<<<grid, dim3(kBlock, kBlock)>>>(left, right, shifts, kWidth, kHeight);
  finish();
  bool is_right = true;
  for (int y = 0; y < kHeight; ++y) {
    for (int x = kTrue + kRadius; x < kWidth; ++x) is_right &= shifts[y * kWidth + x] == kTrue;
  }
  return verdict(is_right);
}
