// What programs ask of the device and of kernels: properties, attributes, occupancy, versions,
// limits, cache preferences, launch attributes; ranges of NVTX and of the profiler.
#include <cuda_profiler_api.h>
#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAS_NVTX
#endif
#include <cstring>

#include "check.hpp"

template <int kBlock>
__global__ void __launch_bounds__(kBlock, 2) scale(float* data, float factor) {
  __shared__ float copy[kBlock];
  copy[threadIdx.x] = data[threadIdx.x];
  __syncthreads();
  data[threadIdx.x] = factor * copy[kBlock - 1 - threadIdx.x];
}

int main() {
#ifdef HAS_NVTX
  nvtxRangePushA("questions");
#endif
  require(cudaProfilerStart());
  cudaDeviceProp properties;
  require(cudaGetDeviceProperties(&properties, 0));
  int count, warp, shared, driver, runtime, chosen;
  require(cudaGetDeviceCount(&count));
  require(cudaDeviceGetAttribute(&warp, cudaDevAttrWarpSize, 0));
  require(cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlock, 0));
  require(cudaDriverGetVersion(&driver));
  require(cudaRuntimeGetVersion(&runtime));
  require(cudaChooseDevice(&chosen, &properties));
  size_t free_bytes, total_bytes, stack;
  require(cudaMemGetInfo(&free_bytes, &total_bytes));
  require(cudaDeviceGetLimit(&stack, cudaLimitStackSize));
  bool is_right = count == 1 && warp == 32 && properties.warpSize == 32 && chosen == 0;
  is_right &= properties.sharedMemPerBlock == static_cast<size_t>(shared) && properties.major >= 7;
  is_right &= driver >= runtime && free_bytes <= total_bytes && stack >= 1024;
  is_right &= std::strlen(properties.name) > 0;

  cudaFuncAttributes attributes;
  require(cudaFuncGetAttributes(&attributes, scale<128>));
  is_right &= attributes.maxThreadsPerBlock == 128 && attributes.sharedSizeBytes == 512;
  int blocks, grid, block;
  size_t dynamic;
  require(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale<128>, 128, 0));
  require(cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale<256>));
  require(cudaOccupancyAvailableDynamicSMemPerBlock(&dynamic, scale<128>, 1, 128));
  is_right &= blocks >= 2 && block == 256 && grid >= 1 && dynamic > 0;
  require(cudaFuncSetCacheConfig(scale<128>, cudaFuncCachePreferL1));
  require(cudaFuncSetAttribute(scale<128>, cudaFuncAttributePreferredSharedMemoryCarveout, 50));

  Buffer<float> data(128);
  for (int i = 0; i < 128; ++i) data[i] = i;
  cudaLaunchConfig_t config = {};
  config.gridDim = 1;
  config.blockDim = 128;
  require(cudaLaunchKernelEx(&config, scale<128>, static_cast<float*>(data), 2.0f));
  finish();
  for (int i = 0; i < 128; ++i) is_right &= data[i] == 2 * (127 - i);
  require(cudaProfilerStop());
#ifdef HAS_NVTX
  nvtxRangePop();
#endif
  return verdict(is_right);
}
