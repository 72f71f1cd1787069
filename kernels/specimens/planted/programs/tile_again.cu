// data-race: __syncthreads()
#include "planted_program.hpp"

__global__ void tile_again(const int* in, int* out, int rounds) {
  __shared__ int tile[kElements];
  const int t = threadIdx.x;
  int sum = 0;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    tile[t] = in[t] * round;  //@
    __syncthreads();
#pragma unroll 1
    for (int i = 0; i < kElements; i += 8) sum += tile[i];  //@
  }
  out[t] = sum;
}

int main() {
  Buffers buffers;
  tile_again<<<1, kElements>>>(buffers.in, buffers.out, 3);
  int sum = 0;
  for (int i = 0; i < kElements; i += 8) sum += 3 * input_at(i);
  return buffers.status([&](int) { return sum; });
}
