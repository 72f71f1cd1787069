// data-race: __syncthreads()
#include "planted_program.hpp"

#define LOAD(to, from) to[threadIdx.x] = from[threadIdx.x]

__global__ void loads_by_macro(const int* in, int* out) {
  __shared__ int share[kElements];
  LOAD(share, in);                             //@
  out[threadIdx.x] = share[threadIdx.x ^ 32];  //@
}

int main() {
  Buffers buffers;
  loads_by_macro<<<1, kElements>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return input_at(i ^ 32); });
}
