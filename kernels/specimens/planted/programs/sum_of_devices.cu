// data-race: the scope of the system
// devices: 2
#include "planted_program.hpp"

// Each device adds its half to a sum that lies in the memory of the first one.
__global__ void add_to_sum(const int* in, int* sum) { atomicAdd(sum, in[threadIdx.x]); }  //@

int main() {
  Buffers first;
  cudaDeviceSynchronize();
  cudaSetDevice(1);
  cudaDeviceEnablePeerAccess(0, 0);
  Buffers second;
  add_to_sum<<<1, 32>>>(second.in + 32, first.out);
  cudaSetDevice(0);
  add_to_sum<<<1, 32>>>(first.in, first.out);
  cudaDeviceSynchronize();
  cudaSetDevice(1);
  cudaDeviceSynchronize();
  int sum = 0;
  for (int i = 0; i < kElements; ++i) sum += input_at(i);
  return first.status([&](int i) { return i == 0 ? sum : 0; });
}
