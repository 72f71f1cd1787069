// out-of-bounds: a check of the thread's index in y against argument 4
#include "planted_program.hpp"

__global__ void guard_in_two_dimensions(const int* in, int* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < width) out[y * width + x] = 2 * in[y * width + x];  //@
}

int main() {
  Buffers buffers(60);
  guard_in_two_dimensions<<<dim3(2, 2), dim3(8, 4)>>>(buffers.in, buffers.out, 10, 6);
  return buffers.status([](int i) { return 2 * input_at(i); });
}
