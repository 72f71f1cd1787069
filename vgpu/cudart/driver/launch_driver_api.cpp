// Launches, and queries about functions.
#include <cuda.h>

#include <algorithm>
#include <cstddef>

#include "vgpu/cudart/driver/driver_call.hpp"
#include "vgpu/cudart/driver/launch_arguments.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

CUresult launch(CUfunction function, const cudaLaunchConfig_t& config, void** parameters,
                void** extra) {
  return in_context([&] {
    if (function == nullptr) return fail(error_of(CUDA_ERROR_INVALID_HANDLE));
    LaunchArguments arguments(function, parameters, extra);
    if (const cudaError_t error = arguments.read()) return error;
    return cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(function), arguments.get());
  });
}

template <typename Handle>
CUresult get_attribute(int* value, CUfunction_attribute attribute, Handle handle) {
  return in_context([&] {
    cudaFuncAttributes known{};
    if (value == nullptr) return fail(cudaErrorInvalidValue);
    const cudaError_t error = cudaFuncGetAttributes(&known, reinterpret_cast<const void*>(handle));
    if (error != cudaSuccess) return error;
    switch (number_of(attribute)) {
      case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK: *value = known.maxThreadsPerBlock; break;
      case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
        *value = static_cast<int>(known.sharedSizeBytes);
        break;
      case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
        *value = static_cast<int>(known.constSizeBytes);
        break;
      case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
        *value = static_cast<int>(known.localSizeBytes);
        break;
      case CU_FUNC_ATTRIBUTE_NUM_REGS: *value = known.numRegs; break;
      case CU_FUNC_ATTRIBUTE_PTX_VERSION: *value = known.ptxVersion; break;
      case CU_FUNC_ATTRIBUTE_BINARY_VERSION: *value = known.binaryVersion; break;
      case CU_FUNC_ATTRIBUTE_CACHE_MODE_CA: *value = known.cacheModeCA; break;
      case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
        *value = known.maxDynamicSharedSizeBytes;
        break;
      case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
        *value = known.preferredShmemCarveout;
        break;
      case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET: *value = known.clusterDimMustBeSet; break;
      case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH: *value = known.requiredClusterWidth; break;
      case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT: *value = known.requiredClusterHeight; break;
      case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH: *value = known.requiredClusterDepth; break;
      case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
        *value = known.nonPortableClusterSizeAllowed;
        break;
      case CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
        *value = known.clusterSchedulingPolicyPreference;
        break;
      default: return fail(cudaErrorInvalidValue);
    }
    return cudaSuccess;
  });
}

// Attributes that can be set have the runtime's numbers.
template <typename Handle>
CUresult set_attribute(Handle handle, CUfunction_attribute attribute, int value) {
  return in_context([&] {
    return cudaFuncSetAttribute(reinterpret_cast<const void*>(handle),
                                static_cast<cudaFuncAttribute>(number_of(attribute)), value);
  });
}

cudaLaunchConfig_t config_of(const CUlaunchConfig& config) {
  cudaLaunchConfig_t made{};
  made.gridDim = {config.gridDimX, config.gridDimY, config.gridDimZ};
  made.blockDim = {config.blockDimX, config.blockDimY, config.blockDimZ};
  made.dynamicSmemBytes = config.sharedMemBytes;
  made.stream = config.hStream;
  // Both APIs use the same type and numbers (cuda.h, driver_types.h).
  static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
  static_assert(static_cast<int>(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) ==
                static_cast<int>(cudaLaunchAttributeClusterDimension));
  static_assert(offsetof(CUlaunchAttribute, value) == offsetof(cudaLaunchAttribute, val));
  made.attrs = reinterpret_cast<cudaLaunchAttribute*>(config.attrs);
  made.numAttrs = config.numAttrs;
  return made;
}

// Returns the largest block size with the highest occupancy, computed like the runtime's header
// template.
CUresult potential_block_size(int* grid, int* block, CUfunction function,
                              CUoccupancyB2DSize shared_of_block, std::size_t shared, int limit,
                              unsigned flags) {
  return in_context([&] {
    if (grid == nullptr || block == nullptr) return fail(cudaErrorInvalidValue);
    const void* const kernel = reinterpret_cast<const void*>(function);
    cudaFuncAttributes attributes{};
    cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
    if (error != cudaSuccess) return error;
    constexpr int kWarp = 32;
    int best = 0, multiprocessors = 0;
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount,
                                   current_context()->device);
    if (error != cudaSuccess) return error;
    const int most =
        limit == 0 ? attributes.maxThreadsPerBlock : std::min(limit, attributes.maxThreadsPerBlock);
    for (int threads = (most + kWarp - 1) / kWarp * kWarp; threads > 0; threads -= kWarp) {
      const int tried = std::min(threads, most);
      int blocks = 0;
      const std::size_t bytes = shared_of_block != nullptr ? shared_of_block(tried) : shared;
      error = cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&blocks, kernel, tried, bytes,
                                                                     flags);
      if (error != cudaSuccess) return error;
      if (blocks * tried <= best) continue;
      best = blocks * tried;
      *block = tried;
      *grid = blocks * multiprocessors;
    }
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void** parameters, void** extra) {
  cudaLaunchConfig_t config{};
  config.gridDim = {grid_x, grid_y, grid_z};
  config.blockDim = {block_x, block_y, block_z};
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  return launch(function, config, parameters, extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters,
                          void** extra) {
  if (config == nullptr) return fail(CUDA_ERROR_INVALID_VALUE);
  return launch(function, config_of(*config), parameters, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y,
                                   unsigned grid_z, unsigned block_x, unsigned block_y,
                                   unsigned block_z, unsigned shared, CUstream stream,
                                   void** parameters) {
  cudaLaunchAttribute cooperative{};
  cooperative.id = cudaLaunchAttributeCooperative;
  cooperative.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = {grid_x, grid_y, grid_z};
  config.blockDim = {block_x, block_y, block_z};
  config.dynamicSmemBytes = shared;
  config.stream = stream;
  config.attrs = &cooperative;
  config.numAttrs = 1;
  return launch(function, config, parameters, nullptr);
}

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction function) {
  return get_attribute(value, attribute, function);
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel kernel,
                              CUdevice) {
  return get_attribute(value, attribute, kernel);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return set_attribute(function, attribute, value);
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel kernel,
                              CUdevice) {
  return set_attribute(kernel, attribute, value);
}

CUresult cuKernelSetCacheConfig(CUkernel kernel, CUfunc_cache config, CUdevice) {
  return cuFuncSetCacheConfig(reinterpret_cast<CUfunction>(kernel), config);
}

CUresult cuFuncSetSharedMemConfig(CUfunction function, CUsharedconfig) {
  return cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_NONE);
}

CUresult cuKernelGetParamInfo(CUkernel kernel, size_t index, size_t* offset, size_t* bytes) {
  return cuFuncGetParamInfo(reinterpret_cast<CUfunction>(kernel), index, offset, bytes);
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid, int* block, CUfunction function,
                                          CUoccupancyB2DSize shared_of_block, size_t shared,
                                          int limit) {
  return potential_block_size(grid, block, function, shared_of_block, shared, limit, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid, int* block, CUfunction function,
                                                   CUoccupancyB2DSize shared_of_block,
                                                   size_t shared, int limit, unsigned flags) {
  return potential_block_size(grid, block, function, shared_of_block, shared, limit, flags);
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction function,
                                      const CUlaunchConfig* config) {
  if (config == nullptr) return fail(CUDA_ERROR_INVALID_VALUE);
  return in_context([&] {
    const cudaLaunchConfig_t known = config_of(*config);
    return cudaOccupancyMaxActiveClusters(clusters, reinterpret_cast<const void*>(function),
                                          &known);
  });
}

CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction function,
                                            const CUlaunchConfig* config) {
  if (config == nullptr) return fail(CUDA_ERROR_INVALID_VALUE);
  return in_context([&] {
    const cudaLaunchConfig_t known = config_of(*config);
    return cudaOccupancyMaxPotentialClusterSize(size, reinterpret_cast<const void*>(function),
                                                &known);
  });
}

}  // extern "C"
