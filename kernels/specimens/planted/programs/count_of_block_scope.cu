// data-race: the scope of the device
#include "planted_program.hpp"

__global__ void count_of_block_scope(const int* in, int* out) {
  if (in[blockIdx.x * blockDim.x + threadIdx.x] > 7) atomicAdd_block(out, 1);  //@
}

int main() {
  Buffers buffers;
  count_of_block_scope<<<4, 16>>>(buffers.in, buffers.out);
  int count = 0;
  for (int i = 0; i < kElements; ++i) count += input_at(i) > 7 ? 1 : 0;
  return buffers.status([&](int i) { return i == 0 ? count : 0; });
}
