// out-of-bounds:
#include "planted_program.hpp"

__global__ void doubled(const int* in, int* out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }  //@

int main() {
  Buffers buffers;
  int* half = nullptr;
  cudaMalloc(&half, buffers.bytes() / 2);
  cudaMemset(half, 0, buffers.bytes() / 2);
  doubled<<<1, kElements>>>(buffers.in, half);
  cudaMemcpy(buffers.out, half, buffers.bytes() / 2, cudaMemcpyDeviceToDevice);
  cudaFree(half);
  return buffers.status([](int i) { return i < kElements / 2 ? 2 * input_at(i) : 0; });
}
