// Programs for lifetime_test.py, which free memory too early, twice or never, use it before it is
// allocated, or copy it onto itself; the first argument selects one.
#include <cuda_runtime.h>

#include <cstdio>
#include <memory>
#include <string>

__global__ void fill(int* out, int value) {
  out[threadIdx.x] = value;  // the store
}

struct Free {
  void operator()(int* data) const { cudaFree(data); }  // the owner's free
};
using Owner = std::unique_ptr<int, Free>;

int* of_helper(size_t bytes) {
  int* data = nullptr;
  cudaMalloc(&data, bytes);  // the helper's allocation
  return data;
}

Owner owned(size_t bytes) { return Owner(of_helper(bytes)); }

int* dangling() {
  const Owner gone = owned(256);
  return gone.get();
}

void leak() {
  int *device, *managed, *host, *kept;
  cudaMalloc(&device, 64);           // allocated for the device
  cudaMallocManaged(&managed, 128);  // allocated as managed
  cudaMallocHost(&host, 192);        // allocated for the host
  cudaMalloc(&kept, 256);
  cudaFree(kept);
  for (int i = 0; i < 3; ++i) of_helper(320);
  static int registered[64];
  cudaHostRegister(registered, sizeof registered, cudaHostRegisterDefault);
}

void free_in_a_stream(bool used, bool twice) {
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  int* data;
  cudaMallocAsync(&data, 128, stream);
  fill<<<1, 32, 0, stream>>>(data, 1);
  cudaFreeAsync(data, stream);  // freed in a stream
  if (used) fill<<<1, 32, 0, stream>>>(data, 2);
  if (twice) cudaFreeAsync(data, stream);  // freed again in a stream
  cudaStreamSynchronize(stream);
  cudaStreamDestroy(stream);
}

// Another stream uses memory of a pool, which exists from the allocation's turn on.
void allocate_in_a_stream(bool ordered, bool by_copy) {
  cudaStream_t stream, other;
  cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
  cudaEvent_t allocated;
  cudaEventCreate(&allocated);
  int* data;
  cudaMallocAsync(&data, 128, stream);  // allocated in a stream
  if (ordered) cudaEventRecord(allocated, stream);
  if (ordered) cudaStreamWaitEvent(other, allocated);
  if (by_copy) cudaMemsetAsync(data, 0, 128, other);  // the fill
  if (!by_copy) fill<<<1, 32, 0, other>>>(data, 1);
  cudaStreamSynchronize(other);
  cudaFree(data);
}

void copy_within(int* data) {
  cudaMemcpy(data, data + 32, 128, cudaMemcpyDeviceToDevice);
  cudaMemcpy2D(data, 16, data + 2, 16, 8, 8, cudaMemcpyDeviceToDevice);  // columns
  cudaMemcpy(data, data, 128, cudaMemcpyDeviceToDevice);
  cudaMemcpy(data + 1, data, 128, cudaMemcpyDeviceToDevice);  // the overlap
}

void use_destroyed_handles() {
  cudaStream_t stream;
  cudaEvent_t event;
  cudaStreamCreate(&stream);
  cudaEventCreate(&event);
  cudaStreamDestroy(stream);
  cudaEventDestroy(event);
  cudaStreamQuery(stream);                 // asks the destroyed stream
  fill<<<1, 32, 0, stream>>>(nullptr, 1);  // launches in it
  cudaEventRecord(event);                  // records the destroyed event
  cudaEventDestroy(event);                 // destroys it again
}

int main(int, char** arguments) {
  const std::string mode = arguments[1];
  if (mode == "leak") leak();
  if (mode == "kernel") fill<<<1, 64>>>(dangling(), 1);
  if (mode == "copy") {
    int value;
    cudaMemcpy(&value, dangling(), sizeof value, cudaMemcpyDeviceToHost);  // the copy
  }
  if (mode == "twice") {
    const Owner data = owned(256);
    cudaFree(data.get());  // freed first
  }
  if (mode == "again") {  // new memory in the place of freed memory
    cudaFree(of_helper(256));
    int* const data = of_helper(256);
    fill<<<1, 64>>>(data, 1);
    cudaFree(data);
  }
  if (mode == "too-early") allocate_in_a_stream(false, false);
  if (mode == "fill-too-early") allocate_in_a_stream(false, true);
  if (mode == "ordered") allocate_in_a_stream(true, false);
  if (mode == "ordered") allocate_in_a_stream(true, true);
  if (mode == "overlap") {
    int* const data = of_helper(256);
    fill<<<1, 64>>>(data, 1);
    copy_within(data);
  }
  if (mode == "handles") use_destroyed_handles();
  if (mode == "stream") free_in_a_stream(true, false);
  if (mode == "stream-twice") free_in_a_stream(false, true);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
