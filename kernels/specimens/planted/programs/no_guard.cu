// out-of-bounds: a check of the thread
#include "planted_program.hpp"

__global__ void no_guard(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] + n;  //@
}

int main() {
  Buffers buffers(50);
  no_guard<<<2, 32>>>(buffers.in, buffers.out, 50);
  return buffers.status([](int i) { return input_at(i) + 50; });
}
