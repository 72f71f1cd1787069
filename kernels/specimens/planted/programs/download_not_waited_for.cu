// data-race: a wait of the host
#include "planted_program.hpp"

__global__ void doubled(const int* in, int* out) {
  out[threadIdx.x] = 2 * in[threadIdx.x];  //@
}

int main() {
  Buffers buffers;
  cudaStream_t stream{};
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  int* host = nullptr;
  cudaMallocHost(&host, buffers.bytes());
  for (int i = 0; i < kElements; ++i) host[i] = 0;
  cudaDeviceSynchronize();
  doubled<<<1, kElements, 0, stream>>>(buffers.in, buffers.out);
  cudaMemcpyAsync(host, buffers.out, buffers.bytes(), cudaMemcpyDeviceToHost, stream);
  int status = 0;
  for (int i = 0; i < kElements; ++i) status |= host[i] != 2 * input_at(i) ? 1 : 0;
  cudaDeviceSynchronize();
  cudaFreeHost(host);
  cudaStreamDestroy(stream);
  return status;
}
