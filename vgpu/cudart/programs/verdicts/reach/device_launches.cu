// Device code that launches by cudaGetParameterBuffer and cudaLaunchDevice, whose buffer the
// program fills itself.
//
// build: -arch=compute_80 -rdc=true -lcudadevrt
// case run:
// expect run: clean
// prints run: 42 64, cudaErrorInvalidValue cudaErrorInvalidConfiguration
// case race: -DRACE
// expect race: error data-race child parent
// case small: -DSMALL
// expect small: error out-of-bounds small
// says small: whose arguments have 12 bytes
#include <cstdio>

__global__ void child(int* p, int value) {
  extern __shared__ int shared[];
  shared[threadIdx.x] = value;
  atomicAdd(p + 1, 1);
  if (threadIdx.x == 0 && blockIdx.x == 0) *p = shared[0];  //~ child
}

__global__ void parent(int* p, int* errors) {
#ifdef SMALL
  void* parameters = cudaGetParameterBuffer(8, 8);
  *(int**)parameters = p;
#else
  void* parameters = cudaGetParameterBuffer(8, 16);
  if (!parameters) return;
  *(int**)parameters = p;
  *(int*)((char*)parameters + 8) = 42;
#endif
  cudaLaunchDevice((void*)child, parameters, dim3(2), dim3(32), 32 * sizeof(int), 0);  //~ small
#ifdef RACE
  *p = 1;  //~ parent
#elif !defined(SMALL)
  errors[0] = cudaLaunchDevice((void*)child, p, dim3(1), dim3(1), 0, 0);  // is no buffer
  parameters = cudaGetParameterBuffer(8, 16);
  *(int**)parameters = p;
  *(int*)((char*)parameters + 8) = 1;
  errors[1] = cudaLaunchDevice((void*)child, parameters, dim3(1), dim3(2048), 0, 0);
#endif
}

int main() {
  int *p, h[4] = {};
  cudaMalloc(&p, sizeof h);
  cudaMemset(p, 0, sizeof h);
  parent<<<1, 1>>>(p, p + 2);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
  printf("%d %d, %s %s\n", h[0], h[1], cudaGetErrorName((cudaError_t)h[2]),
         cudaGetErrorName((cudaError_t)h[3]));
  return 0;
}
