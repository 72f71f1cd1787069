// data-race: cudaGridDependencySynchronize()
#include "planted_program.hpp"

__global__ void first(const int* in, int* out) {
  asm volatile("griddepcontrol.launch_dependents;");
  out[threadIdx.x] = 2 * in[threadIdx.x];  //@
}
__global__ void second(const int* in, int* out) {
  out[threadIdx.x] = 3 * in[threadIdx.x];  //@
}

int main() {
  Buffers buffers;
  int* middle = nullptr;
  cudaMalloc(&middle, buffers.bytes());
  first<<<1, kElements>>>(buffers.in, middle);
  cudaLaunchAttribute early{};
  early.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  early.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(kElements);
  config.attrs = &early;
  config.numAttrs = 1;
  const int* from = middle;
  cudaLaunchKernelEx(&config, second, from, buffers.out);
  cudaDeviceSynchronize();
  cudaFree(middle);
  return buffers.status([](int i) { return 6 * input_at(i); });
}
