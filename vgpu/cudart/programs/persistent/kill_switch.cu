// A kernel that goes on until a copy in another stream has set a flag in device memory; what it is
// to compute with has been copied before.
//
// The mutant copies the flag first.
// expect: data-race
#include "check.hpp"

__global__ void wait_and_add(volatile int* flag, const int* in, int* out) {
  while (*flag == 0) {
  }
  __threadfence();
  out[threadIdx.x] = in[threadIdx.x] + 1;  //~
}

int main() {
  int *flag, *in, *out, *values;
  require(cudaMalloc(&flag, sizeof(int)));
  require(cudaMalloc(&in, 32 * sizeof(int)));
  require(cudaMalloc(&out, 32 * sizeof(int)));
  require(cudaMemset(flag, 0, sizeof(int)));
  require(cudaMemset(in, 0, 32 * sizeof(int)));
  require(cudaMallocHost(&values, 33 * sizeof(int)));
  for (int i = 0; i < 33; ++i) values[i] = i + 1;
  cudaStream_t runs, copies;
  require(cudaStreamCreateWithFlags(&runs, cudaStreamNonBlocking));
  require(cudaStreamCreateWithFlags(&copies, cudaStreamNonBlocking));
  require(cudaDeviceSynchronize());
  wait_and_add<<<1, 32, 0, runs>>>(flag, in, out);
  int asked = 0;
  while (cudaStreamQuery(runs) == cudaErrorNotReady && asked < 5) ++asked;
  const auto copy_flag = [&] {
    require(cudaMemcpyAsync(flag, values + 32, sizeof(int), cudaMemcpyHostToDevice, copies));
  };
#ifdef MUTANT
  copy_flag();
#endif
  require(cudaMemcpyAsync(in, values, 32 * sizeof(int), cudaMemcpyHostToDevice, copies));
#ifndef MUTANT
  copy_flag();
#endif
  require(cudaStreamSynchronize(copies));
  require(cudaStreamSynchronize(runs));
  int result[32];
  require(cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost));
  bool is_right = asked == 5;
  for (int i = 0; i < 32; ++i) is_right &= result[i] == i + 2;
  for (cudaStream_t stream : {runs, copies}) require(cudaStreamDestroy(stream));
  for (int* memory : {flag, in, out}) require(cudaFree(memory));
  require(cudaFreeHost(values));
  return verdict(is_right);
}
