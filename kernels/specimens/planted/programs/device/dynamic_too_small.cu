// out-of-bounds: more dynamic shared memory
#include "planted_program.hpp"

__global__ void dynamic_too_small(const int* in, int* out) {
  extern __shared__ int share[];
  const int t = threadIdx.x;
  share[t] = in[t];  //@
  __syncthreads();
  out[t] = share[blockDim.x - 1 - t];  //@
}

int main() {
  Buffers buffers;
  dynamic_too_small<<<1, kElements, kElements>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return input_at(kElements - 1 - i); });
}
