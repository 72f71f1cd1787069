// After a refused launch, call or library function, what it would have written is unknown, not unwritten: nothing
// that follows is an uninitialized-read.  Memory that is allocated afterwards is unwritten, as ever.
//
// build: -arch=compute_100a
// case launch: | | launch
// expect launch: clean
// status launch: 2
// case pointer: | | pointer
// expect pointer: clean
// status pointer: 2
// case call: | | call
// expect call: clean
// status call: 2
// case none: | | none
// expect none: error uninitialized-read copy
// case later: | | later
// expect later: error uninitialized-read copy
// status later: 2
#include <cuda_runtime.h>
#include <cstring>

__device__ int* where;

__global__ void refused(int* out) {
  int v = threadIdx.x;
  int driver = 0;
  if (out != nullptr) asm volatile("mov.u32 %0, %%envreg7;" : "=r"(driver));
  v += driver;
  (out == nullptr ? where : out)[threadIdx.x] = v;
}
__global__ void uses(const int* in, int* out) {
  if (in[threadIdx.x] > 3) out[threadIdx.x] = 1;
}

int main(int, char** arguments) {
  int *p, *q, h[64];
  cudaMalloc(&p, sizeof h);
  cudaMalloc(&q, sizeof h);
  cudaMemset(q, 0, sizeof h);
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  if (is("launch") || is("later")) refused<<<1, 64>>>(p);
  if (is("pointer")) {
    cudaMemcpyToSymbol(where, &p, sizeof p);
    refused<<<1, 64>>>(nullptr);
  }
  if (is("call")) {
    cudaExternalMemory_t memory;
    cudaExternalMemoryHandleDesc of{};
    cudaImportExternalMemory(&memory, &of);
  }
  if (is("later")) {
    cudaFree(p);
    cudaMalloc(&p, 2 * sizeof h);
  }
  if (!is("none") && !is("later")) uses<<<1, 64>>>(p, q);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);  //~ copy
  cudaFree(p);
  cudaFree(q);
  return 0;
}
