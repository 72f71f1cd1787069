// What a program says of its own allocator by NVTX is not followed, and the report says so; ranges
// alone are no reason to.
// case regions: | | 0
// expect regions: clean
// says regions: not checked: the ends, permissions and names of memory that the program describes by NVTX
// case ranges: | | 1
// expect ranges: clean
// says ranges: no findings; 1 launch of 1 kernel
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtMem.h>

#include <cstdlib>

__global__ void set(int* p) { p[threadIdx.x] = 1; }

int main(int, char** arguments) {
  int* memory;
  cudaMalloc(&memory, 4096);
  nvtxRangePushA("set");
  if (atoi(arguments[1]) == 0) {
    nvtxDomainHandle_t domain = nvtxDomainCreateA("allocator");
    nvtxMemVirtualRangeDesc_t range = {};
    range.size = 4096;
    range.ptr = memory;
    nvtxMemHeapDesc_t heap = {};
    heap.extCompatID = NVTX_EXT_COMPATID_MEM;
    heap.structSize = sizeof heap;
    heap.usage = NVTX_MEM_HEAP_USAGE_TYPE_SUB_ALLOCATOR;
    heap.type = NVTX_MEM_TYPE_VIRTUAL_ADDRESS;
    heap.typeSpecificDescSize = sizeof range;
    heap.typeSpecificDesc = &range;
    nvtxMemHeapRegister(domain, &heap);
  }
  set<<<1, 32>>>(memory);
  nvtxRangePop();
  cudaDeviceSynchronize();
  cudaFree(memory);
}
