// data-race: __syncthreads()
#include "planted_program.hpp"

__global__ void ping_pong(const int* in, int* out) {
  __shared__ int buffers[2][kElements];
  const int t = threadIdx.x;
  int from = 0;
  buffers[from][t] = in[t];  //@
  for (int distance = 1; distance < kElements; distance *= 2) {
    const int value = buffers[from][t];
    const int other = t >= distance ? buffers[from][t - distance] : 0;  //@
    from = 1 - from;
    buffers[from][t] = value + other;  //@
  }
  out[t] = buffers[from][t];
}

int main() {
  Buffers buffers;
  ping_pong<<<1, kElements>>>(buffers.in, buffers.out);
  return buffers.status([](int i) {
    int sum = 0;
    for (int j = 0; j <= i; ++j) sum += input_at(j);
    return sum;
  });
}
