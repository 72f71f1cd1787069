// A header of a program in a folder and a namespace that are called like a library's.
#pragma once

namespace cub {

__device__ inline int sum_of_block(int x) {
  __shared__ int total;
  total += x;  // own race
  return total;
}

__device__ inline int doubled(int n) {
  int v;
  if (n > 100) v = n;
  return 2 * v;
}

}  // namespace cub
