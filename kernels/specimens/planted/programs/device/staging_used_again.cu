// data-race: a wait of the host
#include "planted_program.hpp"

__global__ void added(const int* in, int* out) { out[threadIdx.x] += in[threadIdx.x]; }

int main() {
  Buffers buffers;
  int* staging = nullptr;
  cudaMallocHost(&staging, buffers.bytes());
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kElements; ++i) staging[i] = i + round;                             //@
    cudaMemcpyAsync(buffers.in, staging, buffers.bytes(), cudaMemcpyHostToDevice, stream);  //@
    added<<<1, kElements, 0, stream>>>(buffers.in, buffers.out);
  }
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
  cudaFreeHost(staging);
  return buffers.status([](int i) { return 2 * i + 1; });
}
