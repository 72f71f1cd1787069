// A program whose one launch executes some 16 million warp instructions, for
// bench/debug_backwards.py.
#include <cstdio>

__global__ void rounds(unsigned* data, int count) {
  unsigned value = threadIdx.x;
  for (int i = 0; i < count; ++i) {
    value = value * 1'664'525U + 1'013'904'223U;
    if (i % 1024 == 0) data[threadIdx.x] = value >> 16U;
  }
  data[threadIdx.x] = value;
}

int main() {
  constexpr int kThreads = 256, kRounds = 900'000;
  unsigned* data = nullptr;
  cudaMalloc(&data, kThreads * sizeof(unsigned));
  rounds<<<1, kThreads>>>(data, kRounds);
  unsigned first = 0;
  cudaMemcpy(&first, data, sizeof first, cudaMemcpyDeviceToHost);
  std::printf("%u\n", first);
  return cudaFree(data) == cudaSuccess ? 0 : 1;
}
