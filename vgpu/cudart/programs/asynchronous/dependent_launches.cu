// Programmatic dependent launches: a kernel that starts early and waits for the one before it.
// MUTANT: it reads before it waits.
// expect: data-race
// arch: compute_90
#include "check.hpp"

// Enough for several threads of the host.
constexpr int kBlocks = 8, kThreads = 256, kCount = kBlocks * kThreads;

__global__ void first(int* data) {
  const int i = blockIdx.x * kThreads + threadIdx.x;
  data[i] = i;  //~
  cudaTriggerProgrammaticLaunchCompletion();
}
__global__ void second(const int* data, int* out, int scale) {
  __shared__ int reversed[kThreads];
  const int first = blockIdx.x * kThreads, last = first + kThreads - 1;
#ifdef MUTANT
  reversed[threadIdx.x] = data[last - threadIdx.x];  //~
  if (threadIdx.x == 0) cudaGridDependencySynchronize();
#else
  // One thread waits for all.
  if (threadIdx.x == 0) cudaGridDependencySynchronize();
  __syncthreads();
  reversed[threadIdx.x] = data[last - threadIdx.x];
#endif
  out[first + threadIdx.x] = scale * reversed[threadIdx.x];
}

int main() {
  // Of the device alone: nothing is beside the two kernels but each other.
  int *data, *out;
  require(cudaMalloc(&data, kCount * sizeof(int)));
  require(cudaMalloc(&out, kCount * sizeof(int)));
  cudaStream_t stream;
  require(cudaStreamCreate(&stream));
  first<<<kBlocks, kThreads, 0, stream>>>(data);
  cudaLaunchAttribute attribute;
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config = {};
  config.gridDim = kBlocks;
  config.blockDim = kThreads;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  require(cudaLaunchKernelEx(&config, second, static_cast<const int*>(data), out, 3));
  require(cudaStreamSynchronize(stream));
  require(cudaStreamDestroy(stream));
  int found[kCount];
  require(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
  bool is_right = true;
  for (int i = 0; i < kCount; ++i) is_right &= found[i] == 3 * (i ^ (kThreads - 1));
  require(cudaFree(data));
  require(cudaFree(out));
  return verdict(is_right);
}
