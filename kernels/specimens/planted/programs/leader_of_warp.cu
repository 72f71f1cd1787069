// data-race: __syncwarp()
#include "planted_program.hpp"

__global__ void leader_of_warp(const int* in, int* out) {
  __shared__ int first[4];
  const int t = threadIdx.x, warp = t / 32;
  if (t % 32 == 0) first[warp] = in[t];  //@
  asm volatile("" ::: "memory");
  out[t] = first[warp];  //@
}

int main() {
  Buffers buffers(128);
  leader_of_warp<<<1, 128>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return input_at(i / 32 * 32); });
}
