// Initialisation, versions, errors and devices of the driver API.
#include <cuda.h>
#include <cudaProfiler.h>
#include <cuda_profiler_api.h>

#include <cstring>

#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/device/visible_devices.hpp"
#include "vgpu/cudart/driver/driver_call.hpp"
#include "vgpu/cudart/driver/driver_errors.hpp"
#include "vgpu/cudart/driver/driver_functions.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

constexpr int kCudaVersion = CUDA_VERSION;

// Returns attributes that the driver has in addition to the runtime.  Programs query them before
// they use features that are refused here, e.g. compression.
int value_of_drivers_own(int attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR: return 1;
    default: return 0;
  }
}

bool is_drivers_own(int attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK:
    case CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_MAXIMUM_LENGTH:
    case CU_DEVICE_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED: return true;
    default: return false;
  }
}

CUresult get_proc_address(const char* symbol, void** function, int version, cuuint64_t flags,
                          CUdriverProcAddressQueryResult* status) {
  if (symbol == nullptr || function == nullptr) return fail(CUDA_ERROR_INVALID_VALUE);
  if ((flags & ~cuuint64_t{CU_GET_PROC_ADDRESS_LEGACY_STREAM |
                           CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM}) != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE);
  }
  const bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
  const auto [found, is_too_new] = find_driver_function(symbol, version, per_thread);
  *function = found;
  if (status != nullptr) {
    *status = found != nullptr ? CU_GET_PROC_ADDRESS_SUCCESS
              : is_too_new     ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                               : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
  }
  return found != nullptr ? CUDA_SUCCESS : fail(CUDA_ERROR_NOT_FOUND);
}

}  // namespace

extern "C" {

CUresult cuInit(unsigned flags) {
  if (flags != 0) return fail(CUDA_ERROR_INVALID_VALUE);
  const cudaError_t error = devices_of_process().error;
  if (error != cudaSuccess) return result_of(fail(error));
  initialize_driver();
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int* version) { return result_of(cudaDriverGetVersion(version)); }

CUresult cuGetErrorName(CUresult error, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = driver_text_of(error).name;
  return *name == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = driver_text_of(error).text;
  return *text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  return get_proc_address(symbol, function, version, flags, status);
}

CUresult virtual_cuGetProcAddress(const char* symbol, void** function, int version,
                                  cuuint64_t flags) {
  return get_proc_address(symbol, function, version, flags, nullptr);
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return of_device(ordinal, [&] { return write_driver_result(device, ordinal); });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return of_device(device, [&] {
    if (name == nullptr || length <= 0) return fail(cudaErrorInvalidValue);
    std::strncpy(name, virtual_gpu::kName, static_cast<std::size_t>(length) - 1);
    name[length - 1] = '\0';
    return cudaSuccess;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return of_device(device, [&] {
    cudaDeviceProp properties{};
    if (uuid == nullptr) return fail(cudaErrorInvalidValue);
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    std::memcpy(uuid, &properties.uuid, sizeof *uuid);
    return error;
  });
}

CUresult virtual_cuDeviceGetUuid(CUuuid* uuid, CUdevice device) {
  return cuDeviceGetUuid_v2(uuid, device);
}

CUresult cuDeviceGetLuid(char* luid, unsigned* nodes, CUdevice device) {
  return of_device(device, [&] {
    if (luid == nullptr || nodes == nullptr) return fail(cudaErrorInvalidValue);
    return fail(cudaErrorNotSupported);  // an identifier of Windows
  });
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return of_device(device, [&] {
    cudaDeviceProp properties{};
    if (bytes == nullptr) return fail(cudaErrorInvalidValue);
    const cudaError_t error = cudaGetDeviceProperties(&properties, device);
    *bytes = properties.totalGlobalMem;
    return error;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return of_device(device, [&] {
    const int number = number_of(attribute);
    if (value == nullptr) return fail(cudaErrorInvalidValue);
    if (is_drivers_own(number)) {
      *value = value_of_drivers_own(number);
      return cudaSuccess;
    }
    return cudaDeviceGetAttribute(value, static_cast<cudaDeviceAttr>(number), device);
  });
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice device) {
  return of_device(device, [&] {
    const cudaError_t error =
        cudaDeviceGetAttribute(major, cudaDevAttrComputeCapabilityMajor, device);
    if (error != cudaSuccess) return error;
    return cudaDeviceGetAttribute(minor, cudaDevAttrComputeCapabilityMinor, device);
  });
}

CUresult cuDeviceGetProperties(CUdevprop* properties, CUdevice device) {
  return of_device(device, [&] {
    cudaDeviceProp known{};
    if (properties == nullptr) return fail(cudaErrorInvalidValue);
    const cudaError_t error = cudaGetDeviceProperties(&known, device);
    *properties = {};
    properties->maxThreadsPerBlock = known.maxThreadsPerBlock;
    std::memcpy(properties->maxThreadsDim, known.maxThreadsDim, sizeof known.maxThreadsDim);
    std::memcpy(properties->maxGridSize, known.maxGridSize, sizeof known.maxGridSize);
    properties->sharedMemPerBlock = static_cast<int>(known.sharedMemPerBlock);
    properties->totalConstantMemory = static_cast<int>(known.totalConstMem);
    properties->SIMDWidth = known.warpSize;
    properties->memPitch = static_cast<int>(known.memPitch);
    properties->regsPerBlock = known.regsPerBlock;
    properties->clockRate = virtual_gpu::kClockHz / 1000;
    properties->textureAlign = static_cast<int>(known.textureAlignment);
    return error;
  });
}

CUresult cuDeviceGetExecAffinitySupport(int* supported, CUexecAffinityType, CUdevice device) {
  return of_device(device, [&] { return write_driver_result(supported, 0); });
}

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* elements, CUarray_format, unsigned,
                                            CUdevice device) {
  return of_device(device, [&] {
    return write_driver_result(elements,
                               static_cast<std::size_t>(virtual_gpu::kTexture1DLinearWidthMax));
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return after_init([&] { return write_driver_result(mode, CU_MODULE_LAZY_LOADING); });
}

}  // extern "C"
