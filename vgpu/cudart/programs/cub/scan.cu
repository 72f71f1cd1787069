// CUB's device-wide scan (decoupled look-back) of values that a functor makes of the input.
// MUTANT: the functor reads the right-hand neighbour, past the end for the last element.
// expect: out-of-bounds
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_scan.cuh>
#include <vector>

#include "check.hpp"

struct Doubled {
  const int* data;
  __device__ int operator()(int i) const {
#ifdef MUTANT
    return 2 * data[i + 1];  //~
#else
    return 2 * data[i];
#endif
  }
};

int main() {
  const int n = 3000;
  std::vector<int> in(n), out(n);
  for (int i = 0; i < n; ++i) in[i] = i % 7 - 3;
  int *data, *sums;
  require(cudaMalloc(&data, n * sizeof(int)));
  require(cudaMalloc(&sums, n * sizeof(int)));
  require(cudaMemcpy(data, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  const auto values =
      thrust::make_transform_iterator(thrust::counting_iterator<int>(0), Doubled{data});
  void* storage = nullptr;
  size_t bytes = 0;
  require(cub::DeviceScan::InclusiveSum(storage, bytes, values, sums, n));
  require(cudaMalloc(&storage, bytes));
  require(cub::DeviceScan::InclusiveSum(storage, bytes, values, sums, n));
  require(cudaMemcpy(out.data(), sums, n * sizeof(int), cudaMemcpyDeviceToHost));

  bool is_right = true;
  for (int i = 0, sum = 0; i < n; ++i) is_right &= out[i] == (sum += 2 * in[i]);
  require(cudaFree(storage));
  require(cudaFree(sums));
  require(cudaFree(data));
  return verdict(is_right);
}
