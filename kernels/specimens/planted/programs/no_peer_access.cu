// out-of-bounds: access of the devices to one another
// devices: 2
#include "planted_program.hpp"

__global__ void doubled(const int* in, int* out) {
  out[threadIdx.x] = 2 * in[threadIdx.x];  //@
}

int main() {
  Buffers first;
  cudaDeviceSynchronize();
  cudaSetDevice(1);
  Buffers second;
  doubled<<<1, kElements>>>(first.in, second.out);
  return second.status([](int i) { return 2 * input_at(i); });
}
