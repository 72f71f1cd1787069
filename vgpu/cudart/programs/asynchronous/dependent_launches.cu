// Programmatic dependent launches: a kernel that starts early and waits for the one before it.
// arch: compute_90
#include "check.hpp"

__global__ void first(int* data) {
  data[threadIdx.x] = threadIdx.x;
  cudaTriggerProgrammaticLaunchCompletion();
}
__global__ void second(const int* data, int* out, int scale) {
  const int index = 63 - threadIdx.x;
  cudaGridDependencySynchronize();
  out[threadIdx.x] = scale * data[index];
}

int main() {
  Buffer<int> data(64), out(64);
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
  require(cudaLaunchKernelEx(&config, second, static_cast<const int*>(data), static_cast<int*>(out),
                             3));
  require(cudaStreamSynchronize(stream));
  require(cudaStreamDestroy(stream));
  bool is_right = true;
  for (int i = 0; i < 64; ++i) is_right &= out[i] == 3 * (63 - i);
  return verdict(is_right);
}
