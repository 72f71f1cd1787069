// uninitialized-read:
#include "planted_program.hpp"

__global__ void scaled(const int* in, const int* factor, int* out) {
  out[threadIdx.x] = factor[0] * in[threadIdx.x];  //@
}

int main() {
  Buffers buffers;
  int *factor = nullptr, three = 3;
  cudaMalloc(&factor, sizeof(int));
  scaled<<<1, kElements>>>(buffers.in, factor, buffers.out);
  cudaFree(factor);
  return buffers.status([&](int i) { return three * input_at(i); });
}
