// The device itself: choice, attributes, limits, synchronisation, versions.
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <string>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/device/attributes.hpp"
#include "vgpu/cudart/device/current_device.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

struct Attribute {
  cudaDeviceAttr id;
  int value;
};

// Attributes that are not listed are features that the device lacks: 0.
constexpr std::array kAttributes{
    Attribute{cudaDevAttrMaxThreadsPerBlock, virtual_gpu::kBlockThreadsMax},
    Attribute{cudaDevAttrMaxBlockDimX, virtual_gpu::kBlockDimMax[0]},
    Attribute{cudaDevAttrMaxBlockDimY, virtual_gpu::kBlockDimMax[1]},
    Attribute{cudaDevAttrMaxBlockDimZ, virtual_gpu::kBlockDimMax[2]},
    Attribute{cudaDevAttrMaxGridDimX, virtual_gpu::kGridDimMax[0]},
    Attribute{cudaDevAttrMaxGridDimY, virtual_gpu::kGridDimMax[1]},
    Attribute{cudaDevAttrMaxGridDimZ, virtual_gpu::kGridDimMax[2]},
    Attribute{cudaDevAttrMaxSharedMemoryPerBlock, virtual_gpu::kBlockSharedBytes},
    Attribute{cudaDevAttrTotalConstantMemory, virtual_gpu::kConstantBytes},
    Attribute{cudaDevAttrWarpSize, virtual_gpu::kWarpSize},
    Attribute{cudaDevAttrMaxPitch, virtual_gpu::kPitchBytesMax},
    Attribute{cudaDevAttrMaxRegistersPerBlock, virtual_gpu::kBlockRegisters},
    Attribute{cudaDevAttrClockRate, virtual_gpu::kClockHz / 1000},
    Attribute{cudaDevAttrTextureAlignment, virtual_gpu::kTextureAlignment},
    Attribute{cudaDevAttrTexturePitchAlignment, virtual_gpu::kTexturePitchAlignment},
    Attribute{cudaDevAttrGpuOverlap, 1},
    Attribute{cudaDevAttrAsyncEngineCount, virtual_gpu::kCopyEngines},
    Attribute{cudaDevAttrConcurrentKernels, 1},
    Attribute{cudaDevAttrCanMapHostMemory, 1},
    Attribute{cudaDevAttrManagedMemory, 1},
    Attribute{cudaDevAttrConcurrentManagedAccess, 1},
    Attribute{cudaDevAttrComputePreemptionSupported, 1},
    Attribute{cudaDevAttrCooperativeLaunch, 1},
    Attribute{cudaDevAttrMemoryPoolsSupported, 1},
    Attribute{cudaDevAttrMemoryPoolSupportedHandleTypes, cudaMemHandleTypePosixFileDescriptor},
    Attribute{cudaDevAttrIpcEventSupport, 1},
    Attribute{cudaDevAttrMaxTexture1DWidth, virtual_gpu::kTexture1DWidthMax},
    Attribute{cudaDevAttrMaxTexture1DLinearWidth, virtual_gpu::kTexture1DLinearWidthMax},
    Attribute{cudaDevAttrMaxTexture2DWidth, virtual_gpu::kTexture2DMax[0]},
    Attribute{cudaDevAttrMaxTexture2DHeight, virtual_gpu::kTexture2DMax[1]},
    Attribute{cudaDevAttrMaxTexture3DWidth, virtual_gpu::kTexture3DMax},
    Attribute{cudaDevAttrMaxTexture3DHeight, virtual_gpu::kTexture3DMax},
    Attribute{cudaDevAttrMaxTexture3DDepth, virtual_gpu::kTexture3DMax},
    Attribute{cudaDevAttrMaxSurface2DWidth, virtual_gpu::kTexture2DMax[0]},
    Attribute{cudaDevAttrMaxSurface2DHeight, virtual_gpu::kTexture2DMax[1]},
    Attribute{cudaDevAttrMemSyncDomainCount, 1},
    Attribute{cudaDevAttrSurfaceAlignment, 512},
    Attribute{cudaDevAttrMemoryClockRate, virtual_gpu::kClockHz / 1000},
    Attribute{cudaDevAttrUnifiedAddressing, 1},
    Attribute{cudaDevAttrStreamPrioritiesSupported, 1},
    Attribute{cudaDevAttrGlobalL1CacheSupported, 1},
    Attribute{cudaDevAttrLocalL1CacheSupported, 1},
    Attribute{cudaDevAttrMaxRegistersPerMultiprocessor, virtual_gpu::kBlockRegisters},
    Attribute{cudaDevAttrHostRegisterSupported, 1},
    Attribute{cudaDevAttrNumaId, -1},
    Attribute{cudaDevAttrHostNumaId, -1},
};

// The virtual devices have no bus, so the id is made from their number.
std::string bus_id(unsigned number) { return fmt::format("0000:00:{:02x}.0", number); }

constexpr int kFirstAttribute = cudaDevAttrMaxThreadsPerBlock;

// Returns an attribute that depends on the compute capability; nothing: it is not one of these.
std::optional<int> value_of(const virtual_gpu::Capability& capability, int id) {
  switch (id) {
    case cudaDevAttrMultiProcessorCount: return capability.multiprocessors();
    case cudaDevAttrComputeCapabilityMajor: return capability.major;
    case cudaDevAttrComputeCapabilityMinor: return capability.minor;
    case cudaDevAttrMaxThreadsPerMultiProcessor: return capability.multiprocessor_threads_max;
    case cudaDevAttrMaxBlocksPerMultiprocessor: return capability.multiprocessor_blocks_max;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio: return capability.single_to_double_ratio;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(capability.multiprocessor_shared_bytes);
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return static_cast<int>(capability.block_shared_bytes_opt_in());
    case cudaDevAttrMaxPersistingL2CacheSize:
      return static_cast<int>(capability.persisting_l2_bytes());
    case cudaDevAttrL2CacheSize: return static_cast<int>(capability.l2_bytes);
    case cudaDevAttrGlobalMemoryBusWidth: return capability.memory_bus_bits;
    case cudaDevAttrClusterLaunch: return capability.has_clusters() ? 1 : 0;
    case cudaDevAttrMaxAccessPolicyWindowSize:
      return capability.has_persisting_l2()
                 ? static_cast<int>(virtual_gpu::kAccessPolicyWindowBytesMax)
                 : 0;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return static_cast<int>(capability.reserved_shared_bytes);
    default: return std::nullopt;
  }
}

int value_of(int id) {
  for (const Attribute& attribute : kAttributes) {
    if (attribute.id == id) return attribute.value;
  }
  return 0;
}

void describe(cudaDeviceProp& properties, const virtual_gpu::Capability& capability) {
  properties = {};
  std::strncpy(properties.name, virtual_gpu::kName, sizeof properties.name - 1);
  properties.sharedMemPerBlock = virtual_gpu::kBlockSharedBytes;
  properties.regsPerBlock = virtual_gpu::kBlockRegisters;
  properties.warpSize = virtual_gpu::kWarpSize;
  properties.memPitch = virtual_gpu::kPitchBytesMax;
  properties.maxThreadsPerBlock = virtual_gpu::kBlockThreadsMax;
  std::copy_n(virtual_gpu::kBlockDimMax, 3, properties.maxThreadsDim);
  std::copy_n(virtual_gpu::kGridDimMax, 3, properties.maxGridSize);
  properties.totalConstMem = virtual_gpu::kConstantBytes;
  properties.major = capability.major;
  properties.minor = capability.minor;
  properties.textureAlignment = virtual_gpu::kTextureAlignment;
  properties.texturePitchAlignment = virtual_gpu::kTexturePitchAlignment;
  properties.asyncEngineCount = virtual_gpu::kCopyEngines;
  properties.concurrentKernels = 1;
  properties.canMapHostMemory = 1;
  properties.managedMemory = 1;
  properties.concurrentManagedAccess = 1;
  properties.computePreemptionSupported = 1;
  properties.cooperativeLaunch = 1;
  properties.clusterLaunch = capability.has_clusters() ? 1 : 0;
  properties.memoryPoolsSupported = 1;
  properties.memoryPoolSupportedHandleTypes = cudaMemHandleTypePosixFileDescriptor;
  properties.ipcEventSupported = 1;
  properties.maxTexture1D = virtual_gpu::kTexture1DWidthMax;
  std::copy_n(virtual_gpu::kTexture2DMax, 2, properties.maxTexture2D);
  std::fill_n(properties.maxTexture3D, 3, virtual_gpu::kTexture3DMax);
  properties.surfaceAlignment = 512;
  properties.multiProcessorCount = capability.multiprocessors();
  properties.unifiedAddressing = 1;
  properties.memoryBusWidth = capability.memory_bus_bits;
  properties.l2CacheSize = static_cast<int>(capability.l2_bytes);
  if (capability.has_persisting_l2()) {
    properties.persistingL2CacheMaxSize = static_cast<int>(capability.persisting_l2_bytes());
    properties.accessPolicyMaxWindowSize =
        static_cast<int>(virtual_gpu::kAccessPolicyWindowBytesMax);
  }
  properties.maxThreadsPerMultiProcessor = capability.multiprocessor_threads_max;
  properties.streamPrioritiesSupported = 1;
  properties.globalL1CacheSupported = 1;
  properties.localL1CacheSupported = 1;
  properties.sharedMemPerMultiprocessor = capability.multiprocessor_shared_bytes;
  properties.regsPerMultiprocessor = virtual_gpu::kBlockRegisters;
  properties.sharedMemPerBlockOptin = capability.block_shared_bytes_opt_in();
  properties.reservedSharedMemPerBlock = capability.reserved_shared_bytes;
  properties.maxBlocksPerMultiProcessor = capability.multiprocessor_blocks_max;
  properties.hostRegisterSupported = 1;
  properties.deviceNumaId = -1;
  properties.hostNumaId = -1;
}

bool is_supported(const virtual_gpu::Capability& capability, int limit) {
  return limit != cudaLimitDevRuntimeSyncDepth || capability.has_waits_for_children();
}

bool exists(int limit) { return static_cast<unsigned>(limit) < DeviceLimits::kCount; }

}  // namespace

int warpcheck::cudart::attribute_of(const virtual_gpu::Capability& capability, int id) {
  return value_of(capability, id).value_or(value_of(id));
}

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  if (count != nullptr) *count = 0;  // if no device is visible
  return answer_even_after_a_fault(
      [&](Device& device) { return write_result(count, static_cast<int>(device.count())); });
}

cudaError_t cudaGetDevice(int* number) {
  return answer_even_after_a_fault(
      [&](Device& device) { return write_result(number, static_cast<int>(device.number())); });
}

cudaError_t cudaSetDevice(int number) {
  return answer_even_after_a_fault([&](Device& device) {
    if (!device.exists(number)) return no_such_device(device, number);
    current_device() = static_cast<unsigned>(number);
    return cudaSuccess;
  });
}

// Sets the flags like cudaSetDeviceFlags; the current device of the thread does not change.
cudaError_t cudaInitDevice(int number, unsigned flags, unsigned how) {
  return answer_even_after_a_fault([&](Device& device) {
    if (!device.exists(number)) return no_such_device(device, number);
    if ((how & ~unsigned{cudaInitDeviceFlagsAreValid}) != 0) return cudaErrorInvalidValue;
    if (how == 0) return cudaSuccess;
    if ((flags & ~unsigned{cudaDeviceMask}) != 0) return cudaErrorInvalidValue;
    device.other(number).own().flags = flags;
    return cudaSuccess;
  });
}

// The flags determine how the host waits, which has no effect here.
cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return answer_even_after_a_fault([&](Device& device) {
    if (const cudaError_t error = check_flags(device, flags, cudaDeviceMask)) return error;
    device.own().flags = flags;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int number) {
  return answer_even_after_a_fault([&](Device& device) {
    if (properties == nullptr) return cudaErrorInvalidValue;
    if (!device.exists(number)) return no_such_device(device, number);
    describe(*properties, device.trial().capability());
    const unsigned in_system = device.number_in_system(number);
    properties->pciDeviceID = static_cast<int>(in_system);
    properties->uuid.bytes[15] = static_cast<char>(in_system);  // as uuid_text()
    properties->totalGlobalMem = device.allocations().capacity_bytes();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int number) {
  return answer_even_after_a_fault([&](Device& device) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!device.exists(number)) return no_such_device(device, number);
    const int id = number_of(attribute);
    if (id < kFirstAttribute || id >= cudaDevAttrMax) return cudaErrorInvalidValue;
    if (id == cudaDevAttrPciDeviceId) {
      *value = static_cast<int>(device.number_in_system(number));
      return cudaSuccess;
    }
    *value = attribute_of(device.trial().capability(), id);
    return cudaSuccess;
  });
}

cudaError_t cudaChooseDevice(int* number, const cudaDeviceProp* properties) {
  return answer_even_after_a_fault([&](Device&) {
    if (number == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    *number = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return answer_even_after_a_fault(
      [&](Device& device) { return write_result(flags, device.own().flags); });
}

cudaError_t cudaSetValidDevices(int* numbers, int count) {
  return answer_even_after_a_fault([&](Device& device) {
    if (count < 0 || (count != 0 && numbers == nullptr)) return cudaErrorInvalidValue;
    const bool all_exist =
        std::all_of(numbers, numbers + count, [&](int one) { return device.exists(one); });
    return all_exist ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int number) {
  return answer_even_after_a_fault([&](Device& device) {
    if (text == nullptr || size <= 0) return cudaErrorInvalidValue;
    if (!device.exists(number)) return no_such_device(device, number);
    std::strncpy(text, bus_id(device.number_in_system(number)).c_str(),
                 static_cast<std::size_t>(size) - 1);
    text[size - 1] = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetByPCIBusId(int* number, const char* text) {
  return answer_even_after_a_fault([&](Device& device) {
    if (number == nullptr || text == nullptr) return cudaErrorInvalidValue;
    for (int one = 0; device.exists(one); ++one) {
      if (bus_id(device.number_in_system(one)) != text) continue;
      *number = one;
      return cudaSuccess;
    }
    return cudaErrorInvalidDevice;
  });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* elements,
                                                 const cudaChannelFormatDesc* format, int number) {
  return answer([&](Device& device) {
    if (elements == nullptr || format == nullptr) return cudaErrorInvalidValue;
    if (!device.exists(number)) return no_such_device(device, number);
    *elements = static_cast<std::size_t>(virtual_gpu::kTexture1DLinearWidthMax);
    return cudaSuccess;
  });
}

// These are preferences; the virtual device has neither banks nor a cache.
cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return fail(cudaSuccess); }

cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return answer([&](Device&) { return write_result(config, cudaSharedMemBankSizeFourByte); });
}

cudaError_t cudaCtxResetPersistingL2Cache() { return fail(cudaSuccess); }

cudaError_t cudaDeviceSynchronize() {
  return answer([](Device& device) {
    device.wait();
    return device.errors().sticky();
  });
}

cudaError_t cudaDeviceReset() {
  return answer_even_after_a_fault([](Device& device) {
    device.flush_prints();
    device.reset();
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return answer([&](Device& device) {
    const int index = number_of(limit);
    if (!exists(index)) {
      return device.errors().because(cudaErrorInvalidValue,
                                     fmt::format("{} is no cudaLimit", index));
    }
    if (!is_supported(device.trial().capability(), index)) return cudaErrorUnsupportedLimit;
    return device.limits().set(limit, value);
  });
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  return answer([&](Device& device) {
    const int index = number_of(limit);
    if (value == nullptr || !exists(index)) return cudaErrorInvalidValue;
    if (!is_supported(device.trial().capability(), index)) return cudaErrorUnsupportedLimit;
    *value = device.limits().get(limit);
    return cudaSuccess;
  });
}

// This is a preference; the virtual device has no cache to configure.
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return answer([](Device&) { return cudaSuccess; });
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return answer([&](Device&) { return write_result(config, cudaFuncCachePreferNone); });
}

// There is no profiler.
cudaError_t cudaProfilerStart() {
  return answer_even_after_a_fault([](Device&) { return cudaSuccess; });
}

cudaError_t cudaProfilerStop() {
  return answer_even_after_a_fault([](Device&) { return cudaSuccess; });
}

// Needs no device.
cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return fail(cudaErrorInvalidValue);
  if (!is_driver_call(current_call())) note_runtime_use();
  *version = virtual_gpu::kRuntimeVersion;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) { return cudaDriverGetVersion(version); }

// A pure function of its arguments.
cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

}  // extern "C"
