// data-race: an order of the streams
#include "planted_program.hpp"

__global__ void slowly_doubled(const int* in, int* out) {
  out[threadIdx.x] = 2 * in[threadIdx.x];  //@
}

int main() {
  Buffers buffers;
  cudaStream_t one{}, two{};
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaDeviceSynchronize();
  int* middle = nullptr;
  cudaMallocAsync(reinterpret_cast<void**>(&middle), buffers.bytes(), one);
  cudaMemcpyAsync(middle, buffers.in, buffers.bytes(), cudaMemcpyDeviceToDevice, one);
  cudaStreamSynchronize(one);
  slowly_doubled<<<1, kElements, 0, two>>>(middle, buffers.out);
  cudaFreeAsync(middle, one);
  cudaDeviceSynchronize();
  cudaStreamDestroy(one);
  cudaStreamDestroy(two);
  return buffers.status([](int i) { return 2 * input_at(i); });
}
