// uninitialized-read:
#include "planted_program.hpp"

__global__ void doubled(const int* in, int* out) {
  out[threadIdx.x] = 2 * in[threadIdx.x];  //@
}

int main() {
  Buffers buffers;
  const std::vector<int> values(kElements, 5);
  int* fives = nullptr;
  cudaMalloc(&fives, buffers.bytes());
  cudaMemcpy(fives, values.data(), kElements, cudaMemcpyHostToDevice);
  doubled<<<1, kElements>>>(fives, buffers.out);
  cudaFree(fives);
  return buffers.status([](int) { return 10; });
}
