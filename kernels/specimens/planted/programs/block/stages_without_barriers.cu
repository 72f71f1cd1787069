// data-race: __syncthreads()
#include "planted_program.hpp"

__global__ void stages(const int* in, int* out) {
  __shared__ int first[kElements], second[kElements];
  const int t = threadIdx.x;
  first[t] = in[t];                                   //@
  second[t] = first[(t + 1) % kElements] + first[t];  //@
  out[t] = second[kElements - 1 - t];
}

int main() {
  Buffers buffers;
  stages<<<1, kElements>>>(buffers.in, buffers.out);
  return buffers.status([](int i) {
    const int j = kElements - 1 - i;
    return input_at((j + 1) % kElements) + input_at(j);
  });
}
