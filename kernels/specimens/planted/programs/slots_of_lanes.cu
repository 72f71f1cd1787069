// data-race: __syncwarp()
#include "planted_program.hpp"

__global__ void slots_of_lanes(const int* in, int* out) {
  __shared__ int slots[4][32];
  const int t = threadIdx.x, warp = t / 32, lane = t % 32;
  slots[warp][lane] = in[t];              //@
  out[t] = slots[warp][(lane + 5) % 32];  //@
}

int main() {
  Buffers buffers(128);
  slots_of_lanes<<<1, 128>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return input_at(i / 32 * 32 + (i + 5) % 32); });
}
