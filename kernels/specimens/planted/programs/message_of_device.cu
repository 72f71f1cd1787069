// data-race: the scope of the system
// devices: 2
#include "planted_program.hpp"

// One device hands its data to the other one by a flag; the fences reach its own threads alone.
__global__ void send(const int* in, int* data, volatile int* flag) {
#pragma unroll 1
  for (int i = 0; i < kElements; ++i) data[i] = in[i];  //@
  __threadfence();
  *flag = 1;
}

__global__ void receive(const int* data, volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  __threadfence_system();
#pragma unroll 1
  for (int i = 0; i < kElements; ++i) out[i] = data[i];  //@
}

int main() {
  Buffers buffers, shared;
  int* flag = nullptr;
  cudaMalloc(&flag, sizeof(int));
  cudaMemset(flag, 0, sizeof(int));
  cudaDeviceSynchronize();
  cudaSetDevice(1);
  cudaDeviceEnablePeerAccess(0, 0);
  Buffers there;
  receive<<<1, 1>>>(shared.out, flag, there.out);
  cudaSetDevice(0);
  send<<<1, 1>>>(buffers.in, shared.out, flag);
  cudaDeviceSynchronize();
  cudaSetDevice(1);
  cudaDeviceSynchronize();
  cudaFree(flag);
  return there.status(input_at);
}
