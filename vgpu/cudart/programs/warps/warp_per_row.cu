// Sparse matrix times vector: a warp a row in CSR form, a thread a row in ELL form, sums by
// shuffles.
// MUTANT: lanes past the end of a row have left before the shuffles.
// expect: uninitialized-read
#include <vector>

#include "check.hpp"

__global__ void multiply_csr(int rows, const int* offsets, const int* columns, const float* values,
                             const float* x, float* y) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
#ifdef MUTANT
  if (offsets[row] + lane >= offsets[row + 1]) return;
#endif
  for (int i = offsets[row] + lane; i < offsets[row + 1]; i += 32) sum += values[i] * x[columns[i]];
  for (int half = 16; half > 0; half /= 2) {
    sum += __shfl_down_sync(__activemask(), sum, half);  //~
  }
  if (lane == 0) y[row] = sum;
}

__global__ void multiply_ell(int rows, int width, const int* columns, const float* values,
                             const float* x, float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  float sum = 0;
  for (int i = 0; i < width; ++i) {
    const int column = columns[i * rows + row];
    if (column >= 0) sum += values[i * rows + row] * x[column];
  }
  y[row] = sum;
}

int main() {
  const int rows = 70, width = 40;
  Buffer<int> offsets(rows + 1), columns(rows * width), padded(rows * width, -1);
  Buffer<float> csr(rows * width), ell(rows * width), x(rows), by_ell(rows);
  float* y;
  require(cudaMalloc(&y, rows * sizeof(float)));
  int at = 0;
  for (int row = 0; row < rows; ++row) {
    x[row] = row % 6;
    for (int i = 0; i < row * 3 % width; ++i) {
      columns[at] = padded[i * rows + row] = (row + i * i) % rows;
      csr[at++] = ell[i * rows + row] = i % 4 + 1;
    }
    offsets[row + 1] = at;
  }
  multiply_csr<<<(rows + 3) / 4, 128>>>(rows, offsets, columns, csr, x, y);
  multiply_ell<<<2, 64>>>(rows, width, padded, ell, x, by_ell);
  std::vector<float> result(rows);
  require(cudaMemcpy(result.data(), y, rows * sizeof(float), cudaMemcpyDeviceToHost));
  require(cudaFree(y));
  bool is_right = true;
  for (int row = 0; row < rows; ++row) {
    float sum = 0;
    for (int i = offsets[row]; i < offsets[row + 1]; ++i) sum += csr[i] * x[columns[i]];
    is_right &= result[row] == sum && by_ell[row] == sum;
  }
  return verdict(is_right);
}
