/* A file that the C compiler compiles; it calls the runtime, and a function of the library. */
#include <cuda_runtime.h>
#include <stdio.h>

void launch_scale(float* data, int n);

int run_scaling(float* data, int n) {
  struct cudaDeviceProp properties;
  cudaError_t error = cudaGetDeviceProperties(&properties, 0);
  if (error == cudaSuccess && properties.warpSize == 32) {
    launch_scale(data, n);
    error = cudaDeviceSynchronize();
  }
  if (error != cudaSuccess) printf("%s\n", cudaGetErrorString(error));
  return error == cudaSuccess ? 0 : 1;
}
