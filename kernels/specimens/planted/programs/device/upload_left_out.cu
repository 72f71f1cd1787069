// uninitialized-read:
#include "planted_program.hpp"

__global__ void blended(const int* in, const int* weights, int* out) {
  const int t = threadIdx.x;
  out[t] = weights[t % 4] * in[t];  //@
}

int main() {
  Buffers buffers;
  const std::vector<int> host{2, 3, 5, 7};
  int* weights = nullptr;
  cudaMalloc(&weights, host.size() * sizeof(int));
  blended<<<1, kElements>>>(buffers.in, weights, buffers.out);
  cudaFree(weights);
  return buffers.status([&](int i) { return host[i % 4] * input_at(i); });
}
