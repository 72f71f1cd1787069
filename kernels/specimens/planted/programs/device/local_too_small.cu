// out-of-bounds:
#include "planted_program.hpp"

__global__ void local_too_small(const int* in, int* out, int n) {
  const int t = threadIdx.x;
  int window[8];
  for (int i = 0; i <= 8; ++i) window[i] = in[(t + i) % n];  //@
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum += window[(i * n + t) % 8];
  out[t] = sum;
}

int main() {
  Buffers buffers;
  local_too_small<<<1, kElements>>>(buffers.in, buffers.out, kElements);
  return buffers.status([](int t) {
    int sum = 0;
    for (int i = 0; i < 8; ++i) sum += input_at((t + i) % kElements);
    int w[8];
    for (int i = 0; i < 8; ++i) w[i] = input_at((t + i) % kElements);
    sum = 0;
    for (int i = 0; i < 8; ++i) sum += w[(i * kElements + t) % 8];
    return sum;
  });
}
