// Matrix product by tiles in shared memory, of sizes that the tile does not divide.
// MUTANT: no barrier before the next tile overwrites this one.
// expect: data-race
#include "check.hpp"

constexpr int kTile = 16;

__global__ void multiply(const float* a, const float* b, float* c, int m, int n, int k) {
  __shared__ float rows[kTile][kTile], columns[kTile][kTile];
  const int row = blockIdx.y * kTile + threadIdx.y, column = blockIdx.x * kTile + threadIdx.x;
  float sum = 0;
  for (int tile = 0; tile < k; tile += kTile) {
    const int x = tile + threadIdx.x, y = tile + threadIdx.y;
    rows[threadIdx.y][threadIdx.x] = row < m && x < k ? a[row * k + x] : 0;           //~
    columns[threadIdx.y][threadIdx.x] = y < k && column < n ? b[y * n + column] : 0;  //~
    __syncthreads();
    for (int i = 0; i < kTile; ++i) sum += rows[threadIdx.y][i] * columns[i][threadIdx.x];  //~
#ifndef MUTANT
    __syncthreads();
#endif
  }
  if (row < m && column < n) c[row * n + column] = sum;
}

int main() {
  const int m = 33, n = 50, k = 40;
  Buffer<float> a(m * k), b(k * n), c(m * n);
  for (int i = 0; i < m * k; ++i) a[i] = i % 7 - 3;
  for (int i = 0; i < k * n; ++i) b[i] = i % 5 - 2;
  multiply<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(kTile, kTile)>>>(a, b, c, m, n, k);
  finish();
  bool is_right = true;
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int i = 0; i < k; ++i) sum += a[row * k + i] * b[i * n + column];
      is_right &= c[row * n + column] == sum;
    }
  }
  return verdict(is_right);
}
