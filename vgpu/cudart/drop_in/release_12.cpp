// Functions of release 12 with other arguments than in release 13: the device's properties.
// Release 13 has removed some members of cudaDeviceProp (CUDA Runtime API, release notes of 13.0,
// "deprecated fields"), so in programs of release 12 all following members have other offsets.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstring>

namespace {

// cudaDeviceProp of driver_types.h in release 12; members that release 13 also has are named as
// there.
struct Properties {
  char name[256];
  cudaUUID_t uuid;
  char luid[8];
  unsigned luidDeviceNodeMask;
  std::size_t totalGlobalMem, sharedMemPerBlock;
  int regsPerBlock, warpSize;
  std::size_t memPitch;
  int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
  int clockRate;
  std::size_t totalConstMem;
  int major, minor;
  std::size_t textureAlignment, texturePitchAlignment;
  int deviceOverlap;
  int multiProcessorCount;
  int kernelExecTimeoutEnabled;
  int integrated, canMapHostMemory;
  int computeMode;
  int maxTexture1D, maxTexture1DMipmap;
  int maxTexture1DLinear;
  int maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2];
  int maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2];
  int maxTexture2DLayered[3], maxTextureCubemapLayered[2], maxSurface1D, maxSurface2D[2];
  int maxSurface3D[3], maxSurface1DLayered[2], maxSurface2DLayered[3], maxSurfaceCubemap;
  int maxSurfaceCubemapLayered[2];
  std::size_t surfaceAlignment;
  int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
  int asyncEngineCount, unifiedAddressing;
  int memoryClockRate;
  int memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor;
  int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
  std::size_t sharedMemPerMultiprocessor;
  int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID;
  int hostNativeAtomicSupported;
  int singleToDoublePrecisionPerfRatio;
  int pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported;
  int canUseHostPointerForRegisteredMem, cooperativeLaunch;
  int cooperativeMultiDeviceLaunch;
  std::size_t sharedMemPerBlockOptin;
  int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
  int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
  std::size_t reservedSharedMemPerBlock;
  int hostRegisterSupported, sparseCudaArraySupported, hostRegisterReadOnlySupported;
  int timelineSemaphoreInteropSupported, memoryPoolsSupported, gpuDirectRDMASupported;
  unsigned gpuDirectRDMAFlushWritesOptions;
  int gpuDirectRDMAWritesOrdering;
  unsigned memoryPoolSupportedHandleTypes;
  int deferredMappingCudaArraySupported, ipcEventSupported, clusterLaunch;
  int unifiedFunctionPointers;
  int reserved[63];
};
static_assert(sizeof(Properties) == 1032, "as release 12 has it");

// Copies the members from `first` to `last`, which are the same in both releases.
#define COPY_MEMBERS(to, from, first, last)                                               \
  static_assert(offsetof(Properties, last) - offsetof(Properties, first) ==               \
                offsetof(cudaDeviceProp, last) - offsetof(cudaDeviceProp, first));        \
  std::memcpy(reinterpret_cast<std::byte*>(to) + offsetof(Properties, first),             \
              reinterpret_cast<const std::byte*>(from) + offsetof(cudaDeviceProp, first), \
              offsetof(Properties, last) - offsetof(Properties, first) + sizeof((to)->last))

// Functions of release 13, in libwarpcheck_gpu.so.
extern "C" {
cudaError_t warpcheck_cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t warpcheck_cudaDeviceGetAttribute(int* value, cudaDeviceAttr name, int device);
}

int attribute(cudaDeviceAttr name, int device) {
  int value = 0;
  static_cast<void>(warpcheck_cudaDeviceGetAttribute(&value, name, device));
  return value;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceProperties_v2(Properties* properties, int device) {
  if (properties == nullptr) return warpcheck_cudaGetDeviceProperties(nullptr, device);
  cudaDeviceProp known{};
  if (const cudaError_t error = warpcheck_cudaGetDeviceProperties(&known, device)) return error;
  *properties = {};
  COPY_MEMBERS(properties, &known, name, maxGridSize);
  COPY_MEMBERS(properties, &known, totalConstMem, texturePitchAlignment);
  COPY_MEMBERS(properties, &known, multiProcessorCount, multiProcessorCount);
  COPY_MEMBERS(properties, &known, integrated, canMapHostMemory);
  COPY_MEMBERS(properties, &known, maxTexture1D, maxTexture1DMipmap);
  COPY_MEMBERS(properties, &known, maxTexture2D, maxSurfaceCubemapLayered);
  COPY_MEMBERS(properties, &known, surfaceAlignment, unifiedAddressing);
  COPY_MEMBERS(properties, &known, memoryBusWidth, localL1CacheSupported);
  COPY_MEMBERS(properties, &known, sharedMemPerMultiprocessor, hostNativeAtomicSupported);
  COPY_MEMBERS(properties, &known, pageableMemoryAccess, cooperativeLaunch);
  COPY_MEMBERS(properties, &known, sharedMemPerBlockOptin, unifiedFunctionPointers);
  properties->clockRate = attribute(cudaDevAttrClockRate, device);
  properties->deviceOverlap = attribute(cudaDevAttrGpuOverlap, device);
  properties->kernelExecTimeoutEnabled = attribute(cudaDevAttrKernelExecTimeout, device);
  properties->computeMode = attribute(cudaDevAttrComputeMode, device);
  properties->maxTexture1DLinear = attribute(cudaDevAttrMaxTexture1DLinearWidth, device);
  properties->memoryClockRate = attribute(cudaDevAttrMemoryClockRate, device);
  properties->singleToDoublePrecisionPerfRatio =
      attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
  return cudaSuccess;
}

}  // extern "C"
