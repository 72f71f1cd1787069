// uninitialized-read:
#include "planted_program.hpp"

__global__ void best_not_set(const int* in, int* out, int n) {
  const int t = threadIdx.x;
  int best;
#pragma unroll 1
  for (int i = 0; i < 8; ++i) {
    const int value = in[(t + i) % n];
    if (value > best) best = value;  //@
  }
  out[t] = best;
}

int main() {
  Buffers buffers;
  best_not_set<<<1, kElements>>>(buffers.in, buffers.out, kElements);
  return buffers.status([](int t) {
    int best = 0;
    for (int i = 0; i < 8; ++i)
      best = best > input_at((t + i) % kElements) ? best : input_at((t + i) % kElements);
    return best;
  });
}
