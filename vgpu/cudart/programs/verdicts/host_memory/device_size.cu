// The device is as large as one of its capability: what can be asked (multiprocessors, resident
// blocks and clusters), cooperative grids of that size, and barriers of a persistent kernel's own,
// which need all of their blocks at once.
// build: -arch=compute_90
// case asked: | | 0
// expect asked: clean
// prints asked: 132 multiprocessors, 15 clusters of 8 blocks at once, launch: cudaSuccess
// case older: | --device sm_80 | 0
// expect older: note api-error attribute
// expect older: note api-error launch
// prints older: 108 multiprocessors, -1 clusters of 8 blocks at once, launch: cudaErrorNoKernelImageForDevice
// case newer: | --device sm_100 | 0
// expect newer: clean
// prints newer: 148 multiprocessors, 34 clusters of 8 blocks at once, launch: cudaSuccess
// case cooperative: | | 1
// expect cooperative: clean
// prints cooperative: 264 blocks, sum 264, cudaSuccess
// case too_large: | | 2
// expect too_large: note api-error too_large
// prints too_large: 265 blocks, sum 0, cudaErrorCooperativeLaunchTooLarge
// case own_barrier: | | 3
// expect own_barrier: clean
// prints own_barrier: 264 blocks, sum 264, cudaSuccess
// case too_many_waiting: | | 4
// expect too_many_waiting: error deadlock poll behind
// case allocation: | --memory 64M | 5
// expect allocation: error api-error allocation
// says allocation: `exec --memory` sets the size of the device's memory, and `--device` selects another device
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void kernel() {
  extern __shared__ int s[];
  s[threadIdx.x] = 0;
}

__global__ void sum_by_grid(int* sum, int* result) {
  if (threadIdx.x == 0) atomicAdd(sum, 1);
  cooperative_groups::this_grid().sync();
  if (blockIdx.x == 0 && threadIdx.x == 0) *result = *sum;
}

__global__ void sum_by_own_barrier(int* sum, int* result) {
  __syncthreads();
  if (threadIdx.x == 0) {
    __threadfence();
    atomicAdd(sum, 1);
    while (*(volatile int*)sum < (int)gridDim.x) {  //~ poll
    }
    __threadfence();
    if (blockIdx.x == 0) *result = *(volatile int*)sum;
  }
  __syncthreads();  //~ behind
}

int main(int, char** arguments) {
  const int kind = atoi(arguments[1]);
  cudaDeviceProp properties;
  cudaGetDeviceProperties(&properties, 0);
  if (kind == 0) {
    const size_t shared = properties.major == 9 ? 200 << 10 : 100 << 10;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared);  //~ attribute
    cudaLaunchConfig_t config = {};
    config.gridDim = 8;
    config.blockDim = 128;
    config.dynamicSmemBytes = shared;
    cudaLaunchAttribute attribute[1];
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim = {8, 1, 1};
    config.attrs = attribute;
    config.numAttrs = 1;
    int clusters = -1;
    cudaOccupancyMaxActiveClusters(&clusters, kernel, &config);
    cudaError_t launch = cudaLaunchKernelEx(&config, kernel);  //~ launch
    if (launch == cudaSuccess) launch = cudaDeviceSynchronize();
    printf("%d multiprocessors, %d clusters of 8 blocks at once, launch: %s\n",
           properties.multiProcessorCount, clusters, cudaGetErrorName(launch));
    return 0;
  }
  if (kind == 5) {
    void* p;
    cudaMalloc(&p, 128 << 20);  //~ allocation
    return 0;
  }
  int *sum, *result, host = 0, on_one;
  cudaMalloc(&sum, sizeof(int));
  cudaMalloc(&result, sizeof(int));
  cudaMemset(sum, 0, sizeof(int));
  cudaMemset(result, 0, sizeof(int));
  const void* run = kind <= 2 ? (void*)sum_by_grid : (void*)sum_by_own_barrier;
  cudaOccupancyMaxActiveBlocksPerMultiprocessor(&on_one, run, 1024, 0);
  const int blocks = on_one * properties.multiProcessorCount + (kind == 2 || kind == 4);
  void* values[] = {&sum, &result};
  cudaError_t error = cudaSuccess;
  if (kind > 2)
    error = cudaLaunchKernel(run, blocks, 1024, values, 0, 0);
  else
    error = cudaLaunchCooperativeKernel(run, blocks, 1024, values, 0, 0);  //~ too_large
  cudaMemcpy(&host, result, sizeof(int), cudaMemcpyDeviceToHost);
  printf("%d blocks, sum %d, %s\n", blocks, host, cudaGetErrorName(error));
  cudaFree(sum);
  cudaFree(result);
  return 0;
}
