// uninitialized-read: bins = 0
#include "planted_program.hpp"

__global__ void bins_not_cleared(const int* in, int* out) {
  __shared__ int bins[16];
  atomicAdd(&bins[in[threadIdx.x]], 1);  //@
  __syncthreads();
  if (threadIdx.x < 16) out[threadIdx.x] = bins[threadIdx.x];  //@
}

int main() {
  Buffers buffers;
  bins_not_cleared<<<1, kElements>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return i < 16 ? 4 : 0; });
}
