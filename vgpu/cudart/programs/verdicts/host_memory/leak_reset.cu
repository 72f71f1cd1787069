// --leaks: memory that the reset of its device, or the end of its context, frees was not freed by
// the program.
// build: -arch=compute_75 -lcuda
// case reset: | --leaks | 1
// expect reset: error leak first
// case without_reset: | --leaks | 0
// expect without_reset: error leak first
// case before_and_after: | --leaks | 2
// expect before_and_after: error leak first
// expect before_and_after: error leak second
// case freed: | --leaks | 3
// expect freed: clean
// case not_asked: | | 1
// expect not_asked: clean
// case context: | --leaks | 4
// expect context: error leak of_context
// case twice: | --leaks | 5
// expect twice: error leak first
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdlib>

__global__ void set(int* p) { p[threadIdx.x] = 1; }

void use(bool frees) {
  int* p;
  cudaMalloc(&p, 128);  //~ first
  set<<<1, 32>>>(p);
  cudaDeviceSynchronize();
  if (frees) cudaFree(p);
}

int main(int, char** arguments) {
  const int kind = atoi(arguments[1]);
  if (kind != 4) use(kind == 3);
  if (kind == 1 || kind == 2 || kind == 3 || kind == 5) cudaDeviceReset();
  if (kind == 2) {
    int* q;
    cudaMalloc(&q, 64);  //~ second
  }
  if (kind == 5) {
    use(false);
    cudaDeviceReset();
  }
  if (kind == 4) {
    CUcontext context;
    CUdeviceptr kept, freed;
    cuInit(0);
    cuCtxCreate(&context, nullptr, 0, 0);
    cuMemAlloc(&kept, 64);  //~ of_context
    cuMemAlloc(&freed, 64);
    cuMemFree(freed);
    cuCtxDestroy(context);
  }
  return 0;
}
