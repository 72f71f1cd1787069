// data-race: atomicAdd()
#include "planted_program.hpp"

__global__ void sum_of_grid(const int* in, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[in[i] % 4] += in[i];  //@
}

int main() {
  Buffers buffers;
  sum_of_grid<<<4, 16>>>(buffers.in, buffers.out);
  return buffers.status([](int i) {
    int sum = 0;
    for (int j = 0; j < kElements; ++j) sum += input_at(j) % 4 == i ? input_at(j) : 0;
    return i < 4 ? sum : 0;
  });
}
