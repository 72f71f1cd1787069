// data-race: an order of the streams
#include "planted_program.hpp"

__global__ void doubled(const int* in, int* out) {
  out[threadIdx.x] = 2 * in[threadIdx.x];  //@
}

int main() {
  Buffers buffers;
  cudaStream_t one{}, two{};
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  int* host = nullptr;
  cudaMallocHost(&host, buffers.bytes());
  for (int i = 0; i < kElements; ++i) host[i] = input_at(i) + 1;
  cudaDeviceSynchronize();
  cudaMemcpyAsync(buffers.in, host, buffers.bytes(), cudaMemcpyHostToDevice, one);
  doubled<<<1, kElements, 0, two>>>(buffers.in, buffers.out);
  cudaDeviceSynchronize();
  cudaFreeHost(host);
  cudaStreamDestroy(one);
  cudaStreamDestroy(two);
  return buffers.status([](int i) { return 2 * input_at(i) + 2; });
}
