// data-race:
#include "planted_program.hpp"

__global__ void maximum_by_exchange(const int* in, int* out) {
  const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  if (value > out[0]) atomicExch(out, value);  //@
}

int main() {
  Buffers buffers;
  maximum_by_exchange<<<2, 32>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return i == 0 ? 15 : 0; });
}
