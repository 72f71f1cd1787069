// Merge sort: a thread finds by binary search where each of its elements goes.
// MUTANT: equal elements of both halves get the same place, and others none.
// expect: data-race
#include <algorithm>
#include <vector>

#include "check.hpp"

__device__ int count_below(const int* data, int n, int value, bool or_equal) {
  int low = 0, high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    const bool is_below = or_equal ? data[middle] <= value : data[middle] < value;
    if (is_below) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

__global__ void merge(const int* in, int* out, int width, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int first = i / (2 * width) * 2 * width, middle = min(first + width, n);
  const int last = min(first + 2 * width, n);
  const bool is_left = i < middle;
#ifdef MUTANT
  const bool or_equal = false;
#else
  const bool or_equal = !is_left;
#endif
  const int rank = is_left ? count_below(in + middle, last - middle, in[i], or_equal) + i - first
                           : count_below(in + first, middle - first, in[i], or_equal) + i - middle;
  out[first + rank] = in[i];  //~
}

int main() {
  const int n = 1000;
  Buffer<int> data(n), other(n);
  for (int i = 0; i < n; ++i) data[i] = i * 31 % 211;
  std::vector<int> expected(data.begin(), data.end());
  std::sort(expected.begin(), expected.end());
  int *in = data, *out = other;
  for (int width = 1; width < n; width *= 2) {
    merge<<<(n + 127) / 128, 128>>>(in, out, width, n);
    std::swap(in, out);
  }
  finish();
  return verdict(std::equal(expected.begin(), expected.end(), in));
}
