// Ranges of NVTX say nothing about memory.
// case ranges:
// expect ranges: clean
// says ranges: no findings; 1 launch of 1 kernel
#include <nvtx3/nvToolsExt.h>

__global__ void set(int* p) { p[threadIdx.x] = 1; }

int main() {
  int* memory;
  cudaMalloc(&memory, 128);
  nvtxRangePushA("set");
  set<<<1, 32>>>(memory);
  nvtxRangePop();
  cudaDeviceSynchronize();
  cudaFree(memory);
  return 0;
}
