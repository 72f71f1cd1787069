// Sequence alignment in wavefronts: tiles along an antidiagonal a launch, cells along one a
// barrier.
// MUTANT: no barrier between antidiagonals of a tile.
// expect: data-race
#include <algorithm>
#include <vector>

#include "check.hpp"

constexpr int kTile = 16, kGap = -2;

__host__ __device__ int best(int diagonal, int up, int left, bool same) {
  const int a = diagonal + (same ? 3 : -1), b = (up > left ? up : left) + kGap;
  return a > b ? a : b;
}

__global__ void align(const char* s, const char* t, int* scores, int n, int tiles, int diagonal) {
  __shared__ int cell[kTile + 1][kTile + 1];
  const int bx = blockIdx.x + max(0, diagonal - tiles + 1), by = diagonal - bx;
  const int x0 = bx * kTile, y0 = by * kTile, k = threadIdx.x, width = n + 1;
  cell[0][k + 1] = scores[y0 * width + x0 + k + 1];
  cell[k + 1][0] = scores[(y0 + k + 1) * width + x0];
  if (k == 0) cell[0][0] = scores[y0 * width + x0];
  for (int step = 0; step < 2 * kTile - 1; ++step) {
#ifndef MUTANT
    __syncthreads();
#endif
    const int x = k, y = step - k;
    if (0 <= y && y < kTile) {
      cell[y + 1][x + 1] =                                                           //~
          best(cell[y][x], cell[y][x + 1], cell[y + 1][x], s[y0 + y] == t[x0 + x]);  //~
    }
  }
  __syncthreads();
  for (int y = 0; y < kTile; ++y) scores[(y0 + y + 1) * width + x0 + k + 1] = cell[y + 1][k + 1];
}

int main() {
  const int tiles = 4, n = tiles * kTile, width = n + 1;
  Buffer<char> s(n), t(n);
  Buffer<int> scores(width * width);
  for (int i = 0; i < n; ++i) s[i] = "ACGT"[i * i % 4], t[i] = "ACGT"[i * 3 % 4];
  for (int i = 0; i <= n; ++i) scores[i] = scores[i * width] = kGap * i;
  std::vector<int> expected(scores.begin(), scores.end());
  for (int y = 1; y <= n; ++y) {
    for (int x = 1; x <= n; ++x) {
      int* const at = &expected[y * width + x];
      *at = best(at[-width - 1], at[-width], at[-1], s[y - 1] == t[x - 1]);
    }
  }
  for (int diagonal = 0; diagonal < 2 * tiles - 1; ++diagonal) {
    const int blocks = std::min(diagonal + 1, 2 * tiles - 1 - diagonal);
    align<<<blocks, kTile>>>(s, t, scores, n, tiles, diagonal);
  }
  finish();
  return verdict(std::equal(expected.begin(), expected.end(), scores.begin()));
}
