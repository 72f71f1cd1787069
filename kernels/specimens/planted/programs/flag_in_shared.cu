// data-race: __syncthreads()
#include "planted_program.hpp"

__global__ void flag_in_shared(const int* in, int* out) {
  __shared__ int found;
  const int t = threadIdx.x;
  if (t == 0) found = 0;
  __syncthreads();
  if (in[t] == 15) atomicOr(&found, 1);  //@
  out[t] = found;                        //@
}

int main() {
  Buffers buffers;
  flag_in_shared<<<1, kElements>>>(buffers.in, buffers.out);
  return buffers.status([](int) { return 1; });
}
