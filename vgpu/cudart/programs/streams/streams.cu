// One stream makes values that another uses; an event orders them.
// MUTANT: the second stream does not wait for the event.
// expect: data-race
#include "check.hpp"

constexpr int kThreads = 64;

__global__ void make(int* values) { values[threadIdx.x] = 5 * threadIdx.x + 2; }  //~

__global__ void use(const int* values, int* squares) {
  squares[threadIdx.x] = values[threadIdx.x] * values[threadIdx.x];  //~
}

int main() {
  cudaStream_t first, second;
  cudaEvent_t made;
  require(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
  require(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
  require(cudaEventCreateWithFlags(&made, cudaEventDisableTiming));
  int *values, *squares, *out;
  require(cudaMalloc(&values, kThreads * sizeof(int)));
  require(cudaMalloc(&squares, kThreads * sizeof(int)));
  require(cudaMallocHost(&out, kThreads * sizeof(int)));

  make<<<1, kThreads, 0, first>>>(values);
  require(cudaEventRecord(made, first));
#ifndef MUTANT
  require(cudaStreamWaitEvent(second, made));
#endif
  use<<<1, kThreads, 0, second>>>(values, squares);
  require(cudaMemcpyAsync(out, squares, kThreads * sizeof(int), cudaMemcpyDeviceToHost, second));
  require(cudaStreamSynchronize(second));
  require(cudaStreamSynchronize(first));

  bool is_right = true;
  for (int i = 0; i < kThreads; ++i) is_right &= out[i] == (5 * i + 2) * (5 * i + 2);
  require(cudaFreeHost(out));
  require(cudaFree(squares));
  require(cudaFree(values));
  require(cudaEventDestroy(made));
  require(cudaStreamDestroy(second));
  require(cudaStreamDestroy(first));
  return verdict(is_right);
}
