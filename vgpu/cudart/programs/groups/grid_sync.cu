// Two steps of a stencil in one cooperative launch: all blocks wait for each other in between.
// MUTANT: they do not wait.
// expect: data-race, uninitialized-read
#include <cooperative_groups.h>
#include <vector>

#include "check.hpp"

namespace cg = cooperative_groups;

__global__ void two_steps(const int* in, int* middle, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const auto sum_around = [&](const int* data) {
    return (i > 0 ? data[i - 1] : 0) + data[i] + (i + 1 < n ? data[i + 1] : 0);  //~
  };
  if (i < n) middle[i] = sum_around(in);  //~
#ifndef MUTANT
  cg::this_grid().sync();
#endif
  if (i < n) out[i] = sum_around(middle);
}

int main() {
  int n = 100;
  std::vector<int> values(n), result(n);
  for (int i = 0; i < n; ++i) values[i] = i * i % 10;
  int *in, *middle, *out;
  require(cudaMalloc(&in, n * sizeof(int)));
  require(cudaMalloc(&middle, n * sizeof(int)));
  require(cudaMalloc(&out, n * sizeof(int)));
  require(cudaMemcpy(in, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  void* arguments[] = {&in, &middle, &out, &n};
  require(cudaLaunchCooperativeKernel((void*)two_steps, dim3(4), dim3(32), arguments, 0, nullptr));
  require(cudaMemcpy(result.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));

  const auto step = [&](const std::vector<int>& data) {
    std::vector<int> sums(n);
    for (int i = 0; i < n; ++i) {
      sums[i] = (i > 0 ? data[i - 1] : 0) + data[i] + (i + 1 < n ? data[i + 1] : 0);
    }
    return sums;
  };
  for (int* memory : {in, middle, out}) require(cudaFree(memory));
  return verdict(result == step(step(values)));
}
