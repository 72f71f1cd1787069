// data-race: the scope of the device
#include "planted_program.hpp"

__device__ int value;
__device__ int ready;

__global__ void narrow_fence(const int* in, int* out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    value = in[5];  //@
    __threadfence_block();
    atomicExch(&ready, 1);
    return;
  }
  while (atomicAdd(&ready, 0) == 0) {
  }
  __threadfence();
  out[0] = value;  //@
}

int main() {
  Buffers buffers;
  narrow_fence<<<2, 32>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return i == 0 ? input_at(5) : 0; });
}
