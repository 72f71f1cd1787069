// Threads pass values on in shared memory, with a cuda::barrier between writing and reading.
// MUTANT: they arrive, but do not wait.
// expect: data-race, uninitialized-read
#include <cuda/barrier>
#include <cuda/std/utility>

#include "check.hpp"

constexpr int kThreads = 64;

__global__ void reverse(const int* data, int* reversed) {
  __shared__ int values[kThreads];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) init(&barrier, kThreads);
  __syncthreads();
  values[threadIdx.x] = data[threadIdx.x];  //~
  auto token = barrier.arrive();
#ifndef MUTANT
  barrier.wait(cuda::std::move(token));
#endif
  reversed[threadIdx.x] = values[kThreads - 1 - threadIdx.x];  //~
}

int main() {
  int in[kThreads], out[kThreads];
  for (int i = 0; i < kThreads; ++i) in[i] = 3 * i + 1;
  int *data, *reversed;
  require(cudaMalloc(&data, sizeof in));
  require(cudaMalloc(&reversed, sizeof out));
  require(cudaMemcpy(data, in, sizeof in, cudaMemcpyHostToDevice));
  reverse<<<1, kThreads>>>(data, reversed);
  require(cudaMemcpy(out, reversed, sizeof out, cudaMemcpyDeviceToHost));
  bool is_right = true;
  for (int i = 0; i < kThreads; ++i) is_right &= out[i] == in[kThreads - 1 - i];
  require(cudaFree(reversed));
  require(cudaFree(data));
  return verdict(is_right);
}
