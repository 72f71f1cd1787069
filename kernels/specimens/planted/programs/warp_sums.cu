// data-race: __syncthreads()
#include "planted_program.hpp"

__global__ void warp_sums(const int* in, int* out) {
  __shared__ int sums[2];
  const int t = threadIdx.x;
  int sum = in[t];
  for (int lane = 16; lane > 0; lane /= 2) sum += __shfl_down_sync(0xffffffff, sum, lane);
  if (t % 32 == 0) sums[t / 32] = sum;     //@
  if (t == 0) out[0] = sums[0] + sums[1];  //@
}

int main() {
  Buffers buffers;
  warp_sums<<<1, kElements>>>(buffers.in, buffers.out);
  int sum = 0;
  for (int i = 0; i < kElements; ++i) sum += input_at(i);
  return buffers.status([&](int i) { return i == 0 ? sum : 0; });
}
