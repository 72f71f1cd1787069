// uninitialized-read: zeros in what cudaMalloc() returns
#include "planted_program.hpp"

__global__ void sum_not_cleared(const int* in, int* sum) {
  atomicAdd(sum, in[threadIdx.x]);  //@
}

int main() {
  Buffers buffers;
  int* sum = nullptr;
  cudaMalloc(&sum, sizeof(int));
  sum_not_cleared<<<1, kElements>>>(buffers.in, sum);
  int result = 0, expected = 0;
  cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost);  //@
  for (int i = 0; i < kElements; ++i) expected += input_at(i);
  cudaFree(sum);
  return result != expected ? 1 : 0;
}
