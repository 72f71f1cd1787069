// data-race: a mask of all lanes
#include "planted_program.hpp"

__global__ void mask_too_small(const int* in, int* out) {
  __shared__ int share[32];
  const int t = threadIdx.x;
  if (t >= 16) return;
  share[t] = in[t];  //@
  __syncwarp(t < 8 ? 0x00ff : 0xff00);
  out[t] = share[15 - t];  //@
}

int main() {
  Buffers buffers(16);
  mask_too_small<<<1, 32>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return input_at(15 - i); });
}
