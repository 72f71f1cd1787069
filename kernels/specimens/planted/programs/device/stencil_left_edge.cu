// out-of-bounds:
#include "planted_program.hpp"

__global__ void stencil_left_edge(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const int left = in[i - 1];  //@
  const int right = i + 1 < n ? in[i + 1] : 0;
  out[i] = left + in[i] + right;
}

int main() {
  Buffers buffers(50);
  stencil_left_edge<<<2, 32>>>(buffers.in, buffers.out, 50);
  return buffers.status([](int i) {
    return (i > 0 ? input_at(i - 1) : 0) + input_at(i) + (i + 1 < 50 ? input_at(i + 1) : 0);
  });
}
