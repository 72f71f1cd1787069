// data-race: a mask of all lanes
#include "planted_program.hpp"

__global__ void mask_of_half(const int* in, int* out) {
  __shared__ int share[32];
  const int t = threadIdx.x;
  share[t] = in[t];  //@
  __syncwarp(0xffff >> (t / 16 * 0) << (t / 16 * 16));
  out[t] = share[t ^ 16];  //@
}

int main() {
  Buffers buffers(32);
  mask_of_half<<<1, 32>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return input_at(i ^ 16); });
}
