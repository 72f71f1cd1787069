// data-race: __syncthreads()
#include "planted_program.hpp"

__global__ void double_buffer(const int* in, int* out, int n) {
  __shared__ int buffer[2][kElements];
  const int t = threadIdx.x;
  int from = 0;
  buffer[0][t] = in[t];  //@
#pragma unroll 1
  for (int distance = 1; distance < n; distance *= 2) {
    const int before = t >= distance ? buffer[from][t - distance] : 0;  //@
    buffer[1 - from][t] = buffer[from][t] + before;                     //@
    from = 1 - from;
  }
  out[t] = buffer[from][t];
}

int main() {
  Buffers buffers;
  double_buffer<<<1, kElements>>>(buffers.in, buffers.out, kElements);
  return buffers.status([](int i) {
    int sum = 0;
    for (int j = 0; j <= i; ++j) sum += input_at(j);
    return sum;
  });
}
