// uninitialized-read: tile = 0
#include "planted_program.hpp"

__global__ void part_not_loaded(const int* in, int* out, int n) {
  __shared__ int tile[kElements];
  const int t = threadIdx.x;
  if (t < n) tile[t] = in[t];
  __syncthreads();
  out[t] = tile[kElements - 1 - t];  //@
}

int main() {
  Buffers buffers;
  part_not_loaded<<<1, kElements>>>(buffers.in, buffers.out, kElements - 4);
  return buffers.status([](int i) { return i < 4 ? 0 : input_at(kElements - 1 - i); });
}
