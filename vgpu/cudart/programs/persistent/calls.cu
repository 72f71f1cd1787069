// Calls of the host while a kernel waits for it: memory, events, textures, copies and fills in
// another stream.
//
// The mutant frees memory before it has told the kernel to end: that call waits for the device.
// expect: deadlock
#include <chrono>
#include <thread>

#include "check.hpp"

__global__ void follow(volatile int* go, volatile int* seen, int last) {
  for (int step = 1; step <= last; ++step) {
    while (*go < step) {  //~
    }
    *seen = step;
  }
}

int main() {
  constexpr int kLast = 4;
  int* shared;
  require(cudaHostAlloc(&shared, 64 * sizeof(int), cudaHostAllocMapped));
  volatile int *go = shared, *seen = shared + 32;
  *go = *seen = 0;
  cudaStream_t runs, others;
  require(cudaStreamCreateWithFlags(&runs, cudaStreamNonBlocking));
  require(cudaStreamCreateWithFlags(&others, cudaStreamNonBlocking));
  follow<<<1, 1, 0, runs>>>(shared, shared + 32, kLast);
  int* data;
  require(cudaMalloc(&data, 1024 * sizeof(int)));
  const auto tell = [&](int step) {
    *go = step;
    while (*seen < step) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  tell(1);
  cudaEvent_t begin, end;
  require(cudaEventCreate(&begin));
  require(cudaEventCreate(&end));
  int values[1024], back[1024];
  for (int i = 0; i < 1024; ++i) values[i] = i;
  require(cudaEventRecord(begin, others));
  require(cudaMemcpyAsync(data, values, sizeof values, cudaMemcpyHostToDevice, others));
  require(cudaMemsetAsync(data, 0, 512 * sizeof(int), others));
  require(cudaEventRecord(end, others));
  require(cudaEventSynchronize(end));
  float milliseconds;
  require(cudaEventElapsedTime(&milliseconds, begin, end));
  tell(2);
  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  require(cudaMallocArray(&array, &format, 16, 16));
  cudaResourceDesc resource{};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  const cudaTextureDesc texture{};
  cudaTextureObject_t object;
  require(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  tell(3);
  require(cudaStreamQuery(others));
  require(cudaMemcpyAsync(back, data, sizeof back, cudaMemcpyDeviceToHost, others));
  require(cudaStreamSynchronize(others));
  const bool is_running = cudaStreamQuery(runs) == cudaErrorNotReady;
#ifdef MUTANT
  require(cudaFree(data));
#endif
  *go = kLast;
  require(cudaDeviceSynchronize());
  const bool is_right = is_running && *seen == kLast && back[511] == 0 && back[512] == 512;
#ifndef MUTANT
  require(cudaFree(data));
#endif
  require(cudaDestroyTextureObject(object));
  require(cudaFreeArray(array));
  for (cudaEvent_t event : {begin, end}) require(cudaEventDestroy(event));
  for (cudaStream_t stream : {runs, others}) require(cudaStreamDestroy(stream));
  require(cudaFreeHost(shared));
  return verdict(is_right);
}
