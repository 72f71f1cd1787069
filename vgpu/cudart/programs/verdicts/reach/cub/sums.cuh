// A header of a program in a folder and a namespace that are called like a library's.
#pragma once

namespace cub {

__device__ inline int sum_of_block(int x) {
  __shared__ int total;
  total += x;  // own race
  return total;
}

__device__ inline int item_or_nothing(const int* in, int n) {
  int v;
  if (n > 100) v = in[n];
  return v;
}

}  // namespace cub
