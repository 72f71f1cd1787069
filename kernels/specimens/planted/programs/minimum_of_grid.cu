// data-race: atomic min
#include "planted_program.hpp"

__global__ void minimum_of_grid(const int* in, int* out) {
  out[0] = min(out[0], -in[blockIdx.x * blockDim.x + threadIdx.x]);  //@
}

int main() {
  Buffers buffers;
  minimum_of_grid<<<4, 16>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return i == 0 ? -15 : 0; });
}
