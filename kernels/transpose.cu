#include "kernels/transpose.hpp"

namespace {

constexpr int kTile = 32, kRowsOfThreads = 8;

__global__ void transpose_kernel(const int* in, int* out, int rows, int columns) {
  __shared__ int tile[kTile][kTile + 1];
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

}  // namespace

cudaError_t transpose(const int* in, int* out, int rows, int columns) {
  if (rows == 0 || columns == 0) return cudaSuccess;
  const dim3 grid((columns + kTile - 1) / kTile, (rows + kTile - 1) / kTile);
  transpose_kernel<<<grid, dim3(kTile, kRowsOfThreads)>>>(in, out, rows, columns);
  return cudaGetLastError();
}
