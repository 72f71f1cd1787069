// Programmatic dependent launches: a kernel that starts early and waits for the one before it.
// MUTANT: it reads before it waits.
// expect: data-race
// arch: compute_90
#include "check.hpp"

__global__ void first(int* data) {
  data[threadIdx.x] = threadIdx.x;  //~
  cudaTriggerProgrammaticLaunchCompletion();
}
__global__ void second(const int* data, int* out, int scale) {
  __shared__ int reversed[64];
#ifdef MUTANT
  reversed[threadIdx.x] = data[63 - threadIdx.x];  //~
  if (threadIdx.x == 0) cudaGridDependencySynchronize();
#else
  // One thread waits for all.
  if (threadIdx.x == 0) cudaGridDependencySynchronize();
  __syncthreads();
  reversed[threadIdx.x] = data[63 - threadIdx.x];
#endif
  out[threadIdx.x] = scale * reversed[threadIdx.x];
}

int main() {
  // Of the device alone: nothing is beside the two kernels but each other.
  int *data, *out;
  require(cudaMalloc(&data, 64 * sizeof(int)));
  require(cudaMalloc(&out, 64 * sizeof(int)));
  cudaStream_t stream;
  require(cudaStreamCreate(&stream));
  first<<<1, 64, 0, stream>>>(data);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 64;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  require(cudaLaunchKernelEx(&config, second, static_cast<const int*>(data), out, 3));
  require(cudaStreamSynchronize(stream));
  require(cudaStreamDestroy(stream));
  int found[64];
  require(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
  bool is_right = true;
  for (int i = 0; i < 64; ++i) is_right &= found[i] == 3 * (63 - i);
  require(cudaFree(data));
  require(cudaFree(out));
  return verdict(is_right);
}
