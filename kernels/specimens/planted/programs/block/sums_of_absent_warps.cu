// uninitialized-read:
#include "planted_program.hpp"

__device__ int sum_of_warp(int value) {
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_down_sync(0xffffffff, value, distance);
  return value;
}

__global__ void sums_of_absent_warps(const int* in, int* out) {
  __shared__ int sums[32];
  const int t = threadIdx.x, sum = sum_of_warp(in[t]);
  if (t % 32 == 0) sums[t / 32] = sum;
  __syncthreads();
  if (t >= 32) return;
  const int all = sum_of_warp(sums[t]);  //@
  if (t == 0) out[0] = all;
}

int main() {
  Buffers buffers;
  sums_of_absent_warps<<<1, kElements>>>(buffers.in, buffers.out);
  return buffers.status([](int i) {
    int sum = 0;
    for (int j = 0; j < kElements; ++j) sum += input_at(j);
    return i == 0 ? sum : 0;
  });
}
