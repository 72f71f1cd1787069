// data-race: __syncwarp()
#include "planted_program.hpp"

__device__ void sum_of_warp(volatile int* share, int t) {
  share[t] += share[t + 32];
  for (int distance = 16; distance > 0; distance /= 2) {
    __syncwarp();
    const int other = share[t + distance];  //@
    share[t] += other;                      //@
  }
}

__global__ void last_warp(const int* in, int* out) {
  __shared__ int share[128];
  const int t = threadIdx.x;
  share[t] = in[t];
  share[t + 64] = 0;
  __syncthreads();
  if (t < 32) sum_of_warp(share, t);
  if (t == 0) out[0] = share[0];
}

int main() {
  Buffers buffers;
  last_warp<<<1, kElements>>>(buffers.in, buffers.out);
  int sum = 0;
  for (int i = 0; i < kElements; ++i) sum += input_at(i);
  return buffers.status([&](int i) { return i == 0 ? sum : 0; });
}
