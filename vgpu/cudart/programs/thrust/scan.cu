// Thrust scans a vector on the device, from sums that a kernel of ours has written.
// MUTANT: the kernel has no barrier between writing shared memory and reading it.
// expect: data-race, uninitialized-read
#include <thrust/device_vector.h>
#include <thrust/scan.h>
#include <vector>

#include "check.hpp"

constexpr int kThreads = 64;

// Each thread adds its neighbour, around the block.
__global__ void add_neighbours(const int* data, int* sums) {
  __shared__ int values[kThreads];
  const int i = blockIdx.x * kThreads + threadIdx.x;
  values[threadIdx.x] = data[i];  //~
#ifndef MUTANT
  __syncthreads();
#endif
  sums[i] = values[threadIdx.x] + values[(threadIdx.x + 1) % kThreads];  //~
}

int main() {
  const int n = 10 * kThreads;
  std::vector<int> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = i % 5;
  const thrust::device_vector<int> data(in.begin(), in.end());
  thrust::device_vector<int> sums(n);
  add_neighbours<<<n / kThreads, kThreads>>>(thrust::raw_pointer_cast(data.data()),
                                             thrust::raw_pointer_cast(sums.data()));
  thrust::inclusive_scan(sums.begin(), sums.end(), sums.begin());
  thrust::copy(sums.begin(), sums.end(), out.begin());

  bool is_right = true;
  for (int i = 0, sum = 0; i < n; ++i) {
    const int neighbour = i / kThreads * kThreads + (i + 1) % kThreads;
    is_right &= out[i] == (sum += in[i] + in[neighbour]);
  }
  return verdict(is_right);
}
