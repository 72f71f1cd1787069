// data-race: an order of the streams
// devices: 2
#include "planted_program.hpp"

__global__ void doubled(const int* in, int* out) {
  out[threadIdx.x] = 2 * in[threadIdx.x];  //@
}

int main() {
  Buffers first;
  cudaSetDevice(1);
  cudaDeviceEnablePeerAccess(0, 0);
  Buffers second;
  cudaSetDevice(0);
  cudaDeviceSynchronize();
  doubled<<<1, kElements>>>(first.in, first.out);
  cudaSetDevice(1);
  doubled<<<1, kElements>>>(first.out, second.out);
  cudaDeviceSynchronize();
  cudaSetDevice(0);
  cudaDeviceSynchronize();
  return second.status([](int i) { return 4 * input_at(i); });
}
