// invalid-free:
#include "planted_program.hpp"

__global__ void doubled(const int* in, int* out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }

int main() {
  Buffers buffers;
  int* middle = nullptr;
  cudaMalloc(&middle, buffers.bytes());
  doubled<<<1, kElements>>>(buffers.in, middle);
  doubled<<<1, kElements>>>(middle, buffers.out);
  cudaFree(middle);
  cudaFree(middle);  //@
  return buffers.status([](int i) { return 4 * input_at(i); });
}
