// The pool of a location by the functions of CUDA 13, of the driver and of the runtime.
//
// build: -arch=compute_80 -lcuda
// case run:
// expect run: note api-error location
// expect run: note api-error handle
// prints run: 0 0 1, now 1 1, back 1, wrong 1 1
// prints run: 42
#include <cuda.h>
#include <cstdio>

__global__ void store(int* p) { *p = 42; }

int main() {
  cudaFree(0);
  CUmemoryPool pool = nullptr, other = nullptr, made = nullptr, now = nullptr, back = nullptr;
  CUmemLocation location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  const CUresult first = cuMemGetDefaultMemPool(&pool, &location, CU_MEM_ALLOCATION_TYPE_PINNED);
  const CUresult second = cuDeviceGetDefaultMemPool(&other, 0);
  CUmemPoolProps properties = {};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = location;
  cuMemPoolCreate(&made, &properties);
  cuMemSetMemPool(&location, CU_MEM_ALLOCATION_TYPE_PINNED, made);
  cuMemGetMemPool(&now, &location, CU_MEM_ALLOCATION_TYPE_PINNED);
  cuDeviceGetMemPool(&back, 0);
  const bool is_default = pool == other;
  const bool is_made = now == made, is_same = back == made;
  int *p, h = 0;
  cudaMallocAsync(&p, 4, 0);
  store<<<1, 1>>>(p);
  cudaMemcpyAsync(&h, p, 4, cudaMemcpyDeviceToHost, 0);
  cudaFreeAsync(p, 0);
  cudaStreamSynchronize(0);
  cuMemSetMemPool(&location, CU_MEM_ALLOCATION_TYPE_PINNED, pool);
  cuMemGetMemPool(&now, &location, CU_MEM_ALLOCATION_TYPE_PINNED);
  cuMemPoolDestroy(made);
  const auto kind = CU_MEM_ALLOCATION_TYPE_PINNED;
  const int no_location = cuMemGetDefaultMemPool(&other, nullptr, kind);  //~ location
  const int no_handle = cuMemGetMemPool(nullptr, &location, kind);        //~ handle
  printf("%d %d %d, now %d %d, back %d, wrong %d %d\n", first, second, is_default, is_made, is_same,
         now == pool, no_location, no_handle);
  printf("%d\n", h);
  return 0;
}
