// CUB's collectives of a block: load, exclusive sum and reduction share one piece of memory.
// MUTANT: the barrier between two uses of that memory is missing, as CUB's manual warns.
// expect: data-race
#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "check.hpp"

constexpr int kThreads = 128;

__global__ void scan_and_reduce(const int* data, int* before, int* largest) {
  using Scan = cub::BlockScan<int, kThreads>;
  using Reduce = cub::BlockReduce<int, kThreads>;
  __shared__ union {
    Scan::TempStorage scan;
    Reduce::TempStorage reduce;
  } storage;
  const int value = data[threadIdx.x];
  int sum;
  Scan(storage.scan).ExclusiveSum(value, sum);  //~
  before[threadIdx.x] = sum;
#ifndef MUTANT
  __syncthreads();
#endif
  const int most =
      Reduce(storage.reduce).Reduce(value, [](int a, int b) { return a < b ? b : a; });  //~
  if (threadIdx.x == 0) *largest = most;
}

int main() {
  int in[kThreads], out[kThreads], most;
  for (int i = 0; i < kThreads; ++i) in[i] = i * 29 % 67;
  int *data, *before, *largest;
  require(cudaMalloc(&data, sizeof in));
  require(cudaMalloc(&before, sizeof out));
  require(cudaMalloc(&largest, sizeof(int)));
  require(cudaMemcpy(data, in, sizeof in, cudaMemcpyHostToDevice));
  scan_and_reduce<<<1, kThreads>>>(data, before, largest);
  require(cudaMemcpy(out, before, sizeof out, cudaMemcpyDeviceToHost));
  require(cudaMemcpy(&most, largest, sizeof most, cudaMemcpyDeviceToHost));

  bool is_right = true;
  int sum = 0, expected_most = 0;
  for (int i = 0; i < kThreads; ++i) {
    is_right &= out[i] == sum;
    sum += in[i];
    expected_most = in[i] > expected_most ? in[i] : expected_most;
  }
  require(cudaFree(largest));
  require(cudaFree(before));
  require(cudaFree(data));
  return verdict(is_right && most == expected_most);
}
