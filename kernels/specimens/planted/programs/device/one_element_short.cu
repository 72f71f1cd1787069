// out-of-bounds:
#include "planted_program.hpp"

__global__ void edges(const int* in, int* edge, int n) {
  const int t = threadIdx.x;
  edge[t + 1] = in[t];  //@
  if (t == 0) edge[0] = -1;
}

__global__ void differences(const int* edge, int* out) {
  out[threadIdx.x] = edge[threadIdx.x + 1] - edge[threadIdx.x];
}

int main() {
  Buffers buffers;
  int* edge = nullptr;
  cudaMalloc(&edge, kElements * sizeof(int));
  edges<<<1, kElements>>>(buffers.in, edge, kElements);
  differences<<<1, kElements>>>(edge, buffers.out);
  cudaFree(edge);
  return buffers.status([](int i) { return input_at(i) - (i > 0 ? input_at(i - 1) : -1); });
}
