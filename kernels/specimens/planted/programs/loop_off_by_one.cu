// out-of-bounds: the comparison of
#include "planted_program.hpp"

__global__ void loop_off_by_one(const int* in, int* out, int n) {
#pragma unroll 1
  for (int i = threadIdx.x; i <= n; i += blockDim.x) out[i] = in[i] + 1;  //@
}

int main() {
  Buffers buffers;
  loop_off_by_one<<<1, 32>>>(buffers.in, buffers.out, kElements);
  return buffers.status([](int i) { return input_at(i) + 1; });
}
