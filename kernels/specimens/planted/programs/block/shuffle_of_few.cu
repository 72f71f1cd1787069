// barrier-divergence: a mask of all lanes
#include "planted_program.hpp"

__global__ void shuffle_of_few(const int* in, int* out) {
  const int t = threadIdx.x;
  if (t >= 24) return;
  out[t] = __shfl_sync(0x0000ffff, in[t], (t + 1) % 24);  //@
}

int main() {
  Buffers buffers(24);
  shuffle_of_few<<<1, 32>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return input_at((i + 1) % 24); });
}
