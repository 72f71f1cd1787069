// uninitialized-read:
#include "planted_program.hpp"

__global__ void float_total(const int* in, int* out) {
  __shared__ float total;
  atomicAdd(&total, static_cast<float>(in[threadIdx.x]));  //@
  __syncthreads();
  if (threadIdx.x == 0) out[0] = static_cast<int>(total);
}

int main() {
  Buffers buffers;
  float_total<<<1, kElements>>>(buffers.in, buffers.out);
  int sum = 0;
  for (int i = 0; i < kElements; ++i) sum += input_at(i);
  return buffers.status([&](int i) { return i == 0 ? sum : 0; });
}
