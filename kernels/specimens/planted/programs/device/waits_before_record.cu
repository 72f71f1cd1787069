// data-race: an order of the streams
#include "planted_program.hpp"

__global__ void doubled(const int* in, int* out) {
  out[threadIdx.x] = 2 * in[threadIdx.x];  //@
}

int main() {
  Buffers buffers;
  int* middle = nullptr;
  cudaMalloc(&middle, buffers.bytes());
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  cudaEvent_t done;
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  cudaDeviceSynchronize();
  cudaStreamWaitEvent(two, done);
  doubled<<<1, kElements, 0, one>>>(buffers.in, middle);
  cudaEventRecord(done, one);
  doubled<<<1, kElements, 0, two>>>(middle, buffers.out);
  cudaDeviceSynchronize();
  cudaEventDestroy(done);
  cudaStreamDestroy(one);
  cudaStreamDestroy(two);
  cudaFree(middle);
  return buffers.status([](int i) { return 4 * input_at(i); });
}
