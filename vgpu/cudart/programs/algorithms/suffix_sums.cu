// Sums of each column of a matrix from its last row up: a thread a column.
// MUTANT: the row's number has no sign, so that it is never below 0.
// expect: out-of-bounds
#include "check.hpp"

constexpr unsigned kRows = 40, kColumns = 70;

__global__ void sum_up(const int* matrix, int* sums) {
  const unsigned column = blockIdx.x * blockDim.x + threadIdx.x;
  if (column >= kColumns) return;
  int sum = 0;
#ifdef MUTANT
#pragma nv_diag_suppress 186  // it says so
  for (unsigned row = kRows - 1; row >= 0; --row) {
#else
  for (int row = kRows - 1; row >= 0; --row) {
#endif
    sum += matrix[row * kColumns + column];  //~
    sums[row * kColumns + column] = sum;     //~
  }
}

int main() {
  Buffer<int> matrix(kRows * kColumns), sums(kRows * kColumns);
  for (unsigned i = 0; i < kRows * kColumns; ++i) matrix[i] = i % 11;
  sum_up<<<3, 32>>>(matrix, sums);
  finish();
  bool is_right = true;
  for (unsigned column = 0; column < kColumns; ++column) {
    int sum = 0;
    for (int row = kRows - 1; row >= 0; --row) {
      const unsigned at = row * kColumns + column;
      is_right &= sums[at] == (sum += matrix[at]);
    }
  }
  return verdict(is_right);
}
