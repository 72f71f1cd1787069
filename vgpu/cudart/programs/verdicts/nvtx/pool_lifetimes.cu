// Regions of a program's own pool that NVTX describes: they end when they are unregistered, begin
// unwritten, and are leaks if they never end.
// case right: | --leaks | 0
// expect right: clean
// case after_the_end: | | 1
// expect after_the_end: error use-after-free store unregister
// says after_the_end: (1) uses memory that has been unregistered (NVTX); (2) unregistered it
// case launched_before_the_end: | | 2
// expect launched_before_the_end: clean
// case copied_after_the_end: | | 3
// expect copied_after_the_end: error use-after-free copy unregister
// case unwritten_again: | | 4
// expect unwritten_again: error uninitialized-read branch
// case written_again: | | 5
// expect written_again: clean
// case marked: | | 6
// expect marked: clean
// case leaked: | --leaks | 7
// expect leaked: error leak pool
// expect leaked: error leak out
// expect leaked: error leak register
// says leaked: nothing has unregistered the region that (1) registered (NVTX)
// case leak_not_asked: | | 7
// expect leak_not_asked: clean
// case after_reset: | | 8
// expect after_reset: error use-after-free store reset
// case after_the_heap: | | 9
// expect after_the_heap: error use-after-free store heap
// case twice: | | 10
// expect twice: error invalid-free unregister second
// case by_handle: | | 11
// expect by_handle: error use-after-free store by_handle
// case two_streams: | | 12
// expect two_streams: error data-race store
// case two_streams_ordered: | | 13
// expect two_streams_ordered: clean
// case freed_pool: | --leaks | 14
// expect freed_pool: clean
// case nested: | | 15
// expect nested: error out-of-bounds store
// says nested: the address of (1) is made from inner, but is in inner too[0]
// case after_outer: | | 16
// expect after_outer: error use-after-free store unregister
// case stream_ordered: | | 17
// expect stream_ordered: clean
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "described.hpp"

__global__ void set(int* p, int n, int first = 0) {
  const int i = threadIdx.x;
  if (i < n) p[i] = first + i;  //~ store
}
__global__ void count(const int* p, int* out) {
  if (p[threadIdx.x] > 3) atomicAdd(out, 1);  //~ branch
}

int main(int, char** arguments) {
  const int kind = atoi(arguments[1]);
  char* pool = nullptr;
  cudaMalloc(&pool, 4096);  //~ pool
  int* out;
  cudaMalloc(&out, 4);  //~ out
  cudaMemset(out, 0, 4);
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  const auto arena = nvtxMemHeapRegister(domain(), heap(pool, 4096, "arena"));
  int* const p = reinterpret_cast<int*>(pool);
  nvtxMemRegionHandle_t handle = nullptr;
  nvtxMemRegionsRegister(domain(), region(arena, p, 256, &handle));  //~ register
  nvtxMemRegionsName(domain(), named(p, "weights"));
  std::vector<int> host(64, 7);
  bool is_registered = true;
  const auto unregister = [&] {
    nvtxMemRegionsUnregister(domain(), at(p));  //~ unregister
    is_registered = false;
  };
  switch (kind) {
    case 0: set<<<1, 64>>>(p, 64); break;
    case 1:
      unregister();
      set<<<1, 64>>>(p, 64);
      break;
    case 2:
      set<<<1, 64>>>(p, 64);
      unregister();
      break;
    case 3:
      unregister();
      cudaMemcpy(p, host.data(), 256, cudaMemcpyHostToDevice);  //~ copy
      break;
    case 4:
    case 5:
    case 6:
      set<<<1, 64>>>(p, 64);
      unregister();
      nvtxMemRegionsRegister(domain(), region(arena, p, 128));
      if (kind == 5) set<<<1, 32>>>(p, 32);
      if (kind == 6) nvtxMemCudaMarkInitialized(domain(), nullptr, 0, bytes(p, 128));
      count<<<1, 32>>>(p, out);
      cudaDeviceSynchronize();
      unregister();
      break;
    case 7: return 0;
    case 8:
      nvtxMemHeapReset(domain(), arena);  //~ reset
      set<<<1, 64>>>(p, 64);
      break;
    case 9:
      nvtxMemHeapUnregister(domain(), arena);  //~ heap
      set<<<1, 64>>>(p, 64);
      break;
    case 10:
      unregister();
      nvtxMemRegionsUnregister(domain(), at(p));  //~ second
      break;
    case 11:
      nvtxMemRegionsUnregister(domain(), by(handle));  //~ by_handle
      set<<<1, 64>>>(p, 64);
      break;
    case 12:
    case 13: {  // the pool gives the same bytes to another stream
      set<<<1, 64, 0, a>>>(p, 64);
      unregister();
      cudaEvent_t done;
      cudaEventCreate(&done);
      cudaEventRecord(done, a);
      if (kind == 13) cudaStreamWaitEvent(b, done);
      nvtxMemRegionsRegister(domain(), region(arena, p, 256));
      set<<<1, 64, 0, b>>>(p, 64, 1);
      unregister();
      cudaEventDestroy(done);
      break;
    }
    case 14: set<<<1, 64>>>(p, 64); break;
    case 15:
    case 16: {  // an allocator in a region of another one
      const auto nested = nvtxMemHeapRegister(domain(), heap(p, 256, "nested"));
      nvtxMemRegionsRegister(domain(), region(nested, p, 128));
      nvtxMemRegionsName(domain(), named(p, "inner"));
      nvtxMemRegionsRegister(domain(), region(nested, p + 32, 128));
      nvtxMemRegionsName(domain(), named(p + 32, "inner too"));
      if (kind == 16) {
        nvtxMemRegionsUnregister(domain(), at(p));
        nvtxMemRegionsUnregister(domain(), at(p));  //~ unregister
      }
      set<<<1, 64>>>(p, kind == 16 ? 16 : 33);
      break;
    }
    case 17:
      for (int i = 0; i < 100; ++i) {
        unregister();
        nvtxMemRegionsRegister(domain(), region(arena, p + 16 * (i % 2), 256));
        set<<<1, 64, 0, a>>>(p + 16 * (i % 2), 64);
        cudaMemcpyAsync(host.data(), p + 16 * (i % 2), 256, cudaMemcpyDeviceToHost, a);
        nvtxMemRegionsUnregister(domain(), at(p + 16 * (i % 2)));
        nvtxMemRegionsRegister(domain(), region(arena, p, 256));
      }
      break;
  }
  cudaDeviceSynchronize();
  if (is_registered && kind < 8) unregister();
  if (kind != 9 && kind != 14) nvtxMemHeapUnregister(domain(), arena);
  cudaFree(pool);
  cudaFree(out);
  cudaStreamDestroy(a);
  cudaStreamDestroy(b);
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
  return 0;
}
