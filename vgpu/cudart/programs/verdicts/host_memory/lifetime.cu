// Memory that is freed too early, twice or never, used before it is allocated, or copied onto itself, and
// streams and events that have been destroyed: findings name the calls that allocated and freed it.
// case kernel: | | kernel
// expect kernel: error use-after-free store owners_free
// says kernel: (1) uses memory that has been freed; (2) freed it
// case copy: | | copy
// expect copy: error use-after-free copied owners_free
// says copy: cudaMemcpy of 4 bytes uses memory that has been freed; (2) freed it
// case twice: | | twice
// expect twice: error invalid-free owners_free freed_first
// says twice: cudaFree of memory that has been freed; (2) freed it
// case stream: | | stream
// expect stream: error use-after-free store freed_in_stream
// says stream: (1) uses memory that has been freed; (2) freed it
// case stream_twice: | | stream-twice
// expect stream_twice: error invalid-free freed_again freed_in_stream
// says stream_twice: cudaFreeAsync of memory that has been freed; (2) freed it
// case handles: | | handles
// expect handles: error use-after-free asks
// expect handles: error use-after-free launches
// expect handles: error use-after-free records
// expect handles: error invalid-free destroys_again
// says handles: cudaStreamQuery uses a stream that has been destroyed
// says handles: cudaLaunchKernel uses a stream that has been destroyed
// says handles: cudaEventRecord uses an event that has been destroyed
// says handles: cudaEventDestroy of an event that has been destroyed
// case too_early: | | too-early
// expect too_early: error data-race store allocated_in_stream
// says too_early: nothing orders the kernel of (1) and cudaMallocAsync (2): they are in different streams
// case fill_too_early: | | fill-too-early
// expect fill_too_early: error data-race allocated_in_stream filled
// says fill_too_early: nothing orders cudaMallocAsync (1) and cudaMemsetAsync (2): they are in different streams
// case ordered: | | ordered
// expect ordered: clean
// case overlap: | | overlap
// expect overlap: error data-race overlap
// says overlap: cudaMemcpy may not copy between places that overlap: nothing orders its reads (1) and its writes (2)
// case again: | | again
// expect again: clean
// case leak: | --leaks | leak
// expect leak: error leak x1 for_device
// expect leak: error leak as_managed
// expect leak: error leak for_host
// expect leak: error leak x3 by_helper
// says leak: allocation of 64 bytes
// says leak: allocation of 128 bytes
// says leak: allocation of 192 bytes
// says leak: allocation of 320 bytes
// case leak_without_lines: -cudart shared -Xcompiler -g0 | --leaks | leak
// expect leak_without_lines: error leak
// says leak_without_lines: nothing has freed what (1) allocated; (1) is in leak+0x
// case kernel_without_lines: -cudart shared -Xcompiler -g0 | | kernel
// expect kernel_without_lines: error use-after-free
// says kernel_without_lines: that has been freed; (2) freed it; (2) is in Free::operator()+0x
// case kernel_unoptimized: -G | | kernel
// expect kernel_unoptimized: error use-after-free store owners_free
// says kernel_unoptimized: (1) uses memory that has been freed; (2) freed it
// case copy_unoptimized: -G | | copy
// expect copy_unoptimized: error use-after-free copied owners_free
// says copy_unoptimized: cudaMemcpy of 4 bytes uses memory that has been freed; (2) freed it
// case twice_unoptimized: -G | | twice
// expect twice_unoptimized: error invalid-free owners_free freed_first
// says twice_unoptimized: cudaFree of memory that has been freed; (2) freed it
// case stream_unoptimized: -G | | stream
// expect stream_unoptimized: error use-after-free store freed_in_stream
// says stream_unoptimized: (1) uses memory that has been freed; (2) freed it
#include <cuda_runtime.h>

#include <cstdio>
#include <memory>
#include <string>

__global__ void fill(int* out, int value) {
  out[threadIdx.x] = value;  //~ store
}

struct Free {
  void operator()(int* data) const { cudaFree(data); }  //~ owners_free
};
using Owner = std::unique_ptr<int, Free>;

int* of_helper(size_t bytes) {
  int* data = nullptr;
  cudaMalloc(&data, bytes);  //~ by_helper
  return data;
}

Owner owned(size_t bytes) { return Owner(of_helper(bytes)); }

int* dangling() {
  const Owner gone = owned(256);
  return gone.get();
}

void leak() {
  int *device, *managed, *host, *kept;
  cudaMalloc(&device, 64);           //~ for_device
  cudaMallocManaged(&managed, 128);  //~ as_managed
  cudaMallocHost(&host, 192);        //~ for_host
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
  cudaFreeAsync(data, stream);  //~ freed_in_stream
  if (used) fill<<<1, 32, 0, stream>>>(data, 2);
  if (twice) cudaFreeAsync(data, stream);  //~ freed_again
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
  cudaMallocAsync(&data, 128, stream);  //~ allocated_in_stream
  if (ordered) cudaEventRecord(allocated, stream);
  if (ordered) cudaStreamWaitEvent(other, allocated);
  if (by_copy) cudaMemsetAsync(data, 0, 128, other);  //~ filled
  if (!by_copy) fill<<<1, 32, 0, other>>>(data, 1);
  cudaStreamSynchronize(other);
  cudaFree(data);
}

void copy_within(int* data) {
  cudaMemcpy(data, data + 32, 128, cudaMemcpyDeviceToDevice);
  cudaMemcpy2D(data, 16, data + 2, 16, 8, 8, cudaMemcpyDeviceToDevice);  // columns
  cudaMemcpy(data, data, 128, cudaMemcpyDeviceToDevice);
  cudaMemcpy(data + 1, data, 128, cudaMemcpyDeviceToDevice);  //~ overlap
}

void use_destroyed_handles() {
  cudaStream_t stream;
  cudaEvent_t event;
  cudaStreamCreate(&stream);
  cudaEventCreate(&event);
  cudaStreamDestroy(stream);
  cudaEventDestroy(event);
  cudaStreamQuery(stream);                 //~ asks
  fill<<<1, 32, 0, stream>>>(nullptr, 1);  //~ launches
  cudaEventRecord(event);                  //~ records
  cudaEventDestroy(event);                 //~ destroys_again
}

int main(int, char** arguments) {
  const std::string mode = arguments[1];
  if (mode == "leak") leak();
  if (mode == "kernel") fill<<<1, 64>>>(dangling(), 1);
  if (mode == "copy") {
    int value;
    cudaMemcpy(&value, dangling(), sizeof value, cudaMemcpyDeviceToHost);  //~ copied
  }
  if (mode == "twice") {
    const Owner data = owned(256);
    cudaFree(data.get());  //~ freed_first
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
