// out-of-bounds: the comparison of
#include "planted_program.hpp"

__global__ void guard_off_by_one(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) out[i] = 3 * in[i];  //@
}

int main() {
  Buffers buffers;
  guard_off_by_one<<<3, 32>>>(buffers.in, buffers.out, kElements);
  return buffers.status([](int i) { return 3 * input_at(i); });
}
