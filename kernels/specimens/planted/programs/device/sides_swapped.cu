// out-of-bounds:
#include "planted_program.hpp"

__global__ void sides_swapped(const int* in, int* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < height && y < width) out[y * width + x] = 3 * in[y * width + x];  //@
}

int main() {
  Buffers buffers(12 * 20);
  sides_swapped<<<dim3(3, 3), dim3(8, 8)>>>(buffers.in, buffers.out, 20, 12);
  return buffers.status([](int i) { return 3 * input_at(i); });
}
