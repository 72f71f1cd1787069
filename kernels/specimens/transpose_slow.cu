#include "kernels/specimens/transpose_slow.hpp"

namespace {

constexpr int kTile = 32, kRowsOfThreads = 8;

__global__ void transpose_naive_kernel(const int* in, int* out, int rows, int columns) {
  const int row = static_cast<int>(blockIdx.y * blockDim.y + threadIdx.y);
  const int column = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row < rows && column < columns) out[column * rows + row] = in[row * columns + column];
}

__global__ void transpose_unpadded_kernel(const int* in, int* out, int rows, int columns) {
  __shared__ int tile[kTile][kTile];
  const int x = static_cast<int>(threadIdx.x), y = static_cast<int>(threadIdx.y);
  const int top = static_cast<int>(blockIdx.y) * kTile, left = static_cast<int>(blockIdx.x) * kTile;
  for (int i = y; i < kTile; i += kRowsOfThreads) {
    const int row = top + i, column = left + x;
    if (row < rows && column < columns) tile[i][x] = in[row * columns + column];
  }
  __syncthreads();
  for (int i = y; i < kTile; i += kRowsOfThreads) {
    const int row = top + x, column = left + i;
    if (row < rows && column < columns) out[column * rows + row] = tile[x][i];
  }
}

int divided_up(int number, int by) { return (number + by - 1) / by; }

}  // namespace

cudaError_t transpose_naive(const int* in, int* out, int rows, int columns) {
  if (rows == 0 || columns == 0) return cudaSuccess;
  const dim3 grid(divided_up(columns, kTile), divided_up(rows, kRowsOfThreads));
  transpose_naive_kernel<<<grid, dim3(kTile, kRowsOfThreads)>>>(in, out, rows, columns);
  return cudaGetLastError();
}

cudaError_t transpose_unpadded(const int* in, int* out, int rows, int columns) {
  if (rows == 0 || columns == 0) return cudaSuccess;
  const dim3 grid(divided_up(columns, kTile), divided_up(rows, kTile));
  transpose_unpadded_kernel<<<grid, dim3(kTile, kRowsOfThreads)>>>(in, out, rows, columns);
  return cudaGetLastError();
}
