// LU and Cholesky factorisations of a matrix in shared memory by one block, column by column, and
// the solution of triangular systems.
// MUTANT: a column is used before all of it has been divided.
// expect: data-race
#include <algorithm>
#include <cmath>
#include <vector>

#include "check.hpp"

constexpr int kSize = 48;

__global__ void lu(float* matrix) {
  __shared__ float a[kSize][kSize + 1];
  const int t = threadIdx.x;
  for (int row = 0; row < kSize; ++row) a[row][t] = matrix[row * kSize + t];
  __syncthreads();
  for (int k = 0; k < kSize - 1; ++k) {
    if (t > k) a[t][k] /= a[k][k];  //~
#ifndef MUTANT
    __syncthreads();
#endif
    if (t > k) {
      for (int row = k + 1; row < kSize; ++row) a[row][t] -= a[row][k] * a[k][t];  //~
    }
    __syncthreads();
  }
  for (int row = 0; row < kSize; ++row) matrix[row * kSize + t] = a[row][t];
}

__global__ void cholesky(const float* matrix, float* x) {
  __shared__ float a[kSize][kSize + 1], y[kSize];
  const int t = threadIdx.x;
  for (int row = 0; row < kSize; ++row) a[row][t] = matrix[row * kSize + t];
  y[t] = x[t];
  __syncthreads();
  for (int k = 0; k < kSize; ++k) {
    if (t == k) a[k][k] = sqrtf(a[k][k]);
    __syncthreads();
    if (t > k) a[t][k] /= a[k][k];
    __syncthreads();
    for (int column = k + 1; column <= t; ++column) a[t][column] -= a[t][k] * a[column][k];
    __syncthreads();
  }
  for (int k = 0; k < kSize; ++k) {
    if (t == k) y[k] /= a[k][k];
    __syncthreads();
    if (t > k) y[t] -= a[t][k] * y[k];
    __syncthreads();
  }
  for (int k = kSize - 1; k >= 0; --k) {
    if (t == k) y[k] /= a[k][k];
    __syncthreads();
    if (t < k) y[t] -= a[k][t] * y[k];
    __syncthreads();
  }
  x[t] = y[t];
}

int main() {
  Buffer<float> a(kSize * kSize), b(kSize * kSize), x(kSize, 1);
  for (int i = 0; i < kSize * kSize; ++i) {
    const int row = i / kSize, column = i % kSize;
    const float near = 1.0f / (1 + std::abs(row - column));
    a[i] = row == column ? 20 : near + column % 3;
    b[i] = row == column ? 5 : near;
  }
  const std::vector<float> before(a.begin(), a.end());
  lu<<<1, kSize>>>(a);
  cholesky<<<1, kSize>>>(b, x);
  finish();
  bool is_right = true;
  for (int row = 0; row < kSize; ++row) {
    double product = 0;
    for (int column = 0; column < kSize; ++column) {
      product += double(b[row * kSize + column]) * x[column];
      double sum = 0;
      for (int k = 0; k <= std::min(row, column); ++k) {
        sum += (k == row ? 1.0 : a[row * kSize + k]) * double(a[k * kSize + column]);
      }
      is_right &= std::abs(sum - before[row * kSize + column]) < 1e-4;
    }
    is_right &= std::abs(product - 1) < 1e-4;
  }
  return verdict(is_right);
}
