// CUB's device-wide histogram of bytes, and a kernel that finds its fullest bin.
// MUTANT: the maximum is kept by a plain read and write of many threads.
// expect: data-race
#include <cub/device/device_histogram.cuh>
#include <vector>

#include "check.hpp"

__global__ void fullest(const int* bins, int n, int* most) {
  const int i = threadIdx.x;
#ifdef MUTANT
  if (i < n && bins[i] > *most) *most = bins[i];  //~
#else
  if (i < n) atomicMax(most, bins[i]);
#endif
}

int main() {
  const int n = 4000, bins = 64;
  std::vector<unsigned char> in(n);
  for (int i = 0; i < n; ++i) in[i] = i * i % bins;
  unsigned char* data;
  int *counts, *most;
  require(cudaMalloc(&data, n));
  require(cudaMalloc(&counts, bins * sizeof(int)));
  require(cudaMalloc(&most, sizeof(int)));
  require(cudaMemset(most, 0, sizeof(int)));
  require(cudaMemcpy(data, in.data(), n, cudaMemcpyHostToDevice));

  void* storage = nullptr;
  size_t bytes = 0;
  require(cub::DeviceHistogram::HistogramEven(storage, bytes, data, counts, bins + 1, 0, bins, n));
  require(cudaMalloc(&storage, bytes));
  require(cub::DeviceHistogram::HistogramEven(storage, bytes, data, counts, bins + 1, 0, bins, n));
  fullest<<<1, 128>>>(counts, bins, most);
  std::vector<int> out(bins), expected(bins);
  int out_most = 0, expected_most = 0;
  require(cudaMemcpy(out.data(), counts, bins * sizeof(int), cudaMemcpyDeviceToHost));
  require(cudaMemcpy(&out_most, most, sizeof(int), cudaMemcpyDeviceToHost));

  for (const unsigned char value : in) ++expected[value];
  for (const int count : expected) expected_most = std::max(expected_most, count);
  for (void* memory : {storage, (void*)data, (void*)counts, (void*)most}) require(cudaFree(memory));
  return verdict(out == expected && out_most == expected_most);
}
