// data-race: __syncthreads()
#include "planted_program.hpp"

__global__ void largest_of_block(const int* in, int* out) {
  __shared__ int largest[kElements];
  const int t = threadIdx.x;
  largest[t] = in[t];
#pragma unroll 1
  for (int half = kElements / 2; half > 0; half /= 2) {
    __syncthreads();
    if (t < half) largest[t] = max(largest[t], largest[t + half]);  //@
  }
  out[t] = largest[0];  //@
}

int main() {
  Buffers buffers;
  largest_of_block<<<1, kElements>>>(buffers.in, buffers.out);
  return buffers.status([](int) { return 15; });
}
