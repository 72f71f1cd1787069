// data-race: __threadfence_system()
#include "planted_program.hpp"

__global__ void announce(int* data, int* flag) {
  data[0] = 42;  //@
  atomicExch_system(flag, 1);
}

int main() {
  int* shared = nullptr;
  cudaMallocHost(&shared, 256);
  shared[0] = shared[32] = 0;
  announce<<<1, 1>>>(shared, shared + 32);
  while (__atomic_load_n(shared + 32, __ATOMIC_ACQUIRE) == 0) {
  }
  const int seen = shared[0];  //@
  cudaDeviceSynchronize();
  cudaFreeHost(shared);
  return seen == 42 ? 0 : 1;
}
