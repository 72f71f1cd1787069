// Diagnostics that a program can request from the driver: logs, notifications, and which atomic
// operations reach other devices.  The virtual devices write no log, and have no budget that can be
// exceeded.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

#include "vgpu/cudart/api/api.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

// Returns a unique handle, which denotes nothing.
template <typename Handle>
cudaError_t give_handle(Handle* handle, bool is_good) {
  return answer([&](Device&) {
    if (!is_good || handle == nullptr) return cudaErrorInvalidValue;
    static std::uintptr_t last = 0;
    *handle = reinterpret_cast<Handle>(++last * 16);
    return cudaSuccess;
  });
}

// Returns the capabilities for memory of another device: integers of both sizes, and floating-point
// sums.
unsigned capabilities_of(int operation) {
  constexpr unsigned kSizes = cudaAtomicCapabilityScalar32 | cudaAtomicCapabilityScalar64;
  constexpr unsigned kUnsigned = cudaAtomicCapabilityUnsigned | cudaAtomicCapabilityReduction;
  switch (operation) {
    case cudaAtomicOperationIntegerAdd:
    case cudaAtomicOperationIntegerMin:
    case cudaAtomicOperationIntegerMax: return kSizes | kUnsigned | cudaAtomicCapabilitySigned;
    case cudaAtomicOperationIntegerIncrement:
    case cudaAtomicOperationIntegerDecrement: return kUnsigned | cudaAtomicCapabilityScalar32;
    case cudaAtomicOperationAnd:
    case cudaAtomicOperationOr:
    case cudaAtomicOperationXOR: return kSizes | kUnsigned;
    case cudaAtomicOperationExchange:
    case cudaAtomicOperationCAS: return kSizes | cudaAtomicCapabilityUnsigned;
    case cudaAtomicOperationFloatAdd:
      return kSizes | cudaAtomicCapabilitySigned | cudaAtomicCapabilityReduction;
    default: return 0;
  }
}

}  // namespace

extern "C" {

cudaError_t cudaLogsRegisterCallback(cudaLogsCallback_t function, void*,
                                     cudaLogsCallbackHandle* handle) {
  return give_handle(handle, function != nullptr);
}

cudaError_t cudaLogsUnregisterCallback(cudaLogsCallbackHandle handle) {
  return fail(handle == nullptr ? cudaErrorInvalidValue : cudaSuccess);
}

cudaError_t cudaLogsCurrent(cudaLogIterator* iterator, unsigned flags) {
  return answer([&](Device&) {
    if (iterator == nullptr || flags != 0) return cudaErrorInvalidValue;
    *iterator = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaLogsDumpToFile(cudaLogIterator*, const char* path, unsigned flags) {
  return answer([&](Device&) {
    if (path == nullptr || flags != 0) return cudaErrorInvalidValue;
    return std::ofstream(path, std::ios::app) ? cudaSuccess : cudaErrorOperatingSystem;
  });
}

cudaError_t cudaLogsDumpToMemory(cudaLogIterator*, char* buffer, size_t* bytes, unsigned flags) {
  return answer([&](Device&) {
    if (buffer == nullptr || bytes == nullptr || *bytes == 0 || flags != 0) {
      return cudaErrorInvalidValue;
    }
    *buffer = 0;
    *bytes = 0;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceRegisterAsyncNotification(int number, cudaAsyncCallback function, void*,
                                                cudaAsyncCallbackHandle_t* handle) {
  const cudaError_t error = answer(
      [&](Device& device) { return device.exists(number) ? cudaSuccess : cudaErrorInvalidDevice; });
  return error != cudaSuccess ? error : give_handle(handle, function != nullptr);
}

cudaError_t cudaDeviceUnregisterAsyncNotification(int number, cudaAsyncCallbackHandle_t handle) {
  return answer([&](Device& device) {
    if (!device.exists(number)) return cudaErrorInvalidDevice;
    return handle == nullptr ? cudaErrorInvalidValue : cudaSuccess;
  });
}

// No capabilities, because cudaDevAttrHostNativeAtomicSupported is 0.
cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned* capabilities,
                                                const cudaAtomicOperation* operations,
                                                unsigned count, int number) {
  return answer([&](Device& device) {
    if (capabilities == nullptr || operations == nullptr || count == 0) {
      return cudaErrorInvalidValue;
    }
    if (!device.exists(number)) return cudaErrorInvalidDevice;
    std::fill_n(capabilities, count, 0u);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned* capabilities,
                                               const cudaAtomicOperation* operations,
                                               unsigned count, int from, int to) {
  return answer([&](Device& device) {
    if (capabilities == nullptr || operations == nullptr || count == 0) {
      return cudaErrorInvalidValue;
    }
    if (!device.exists(from) || !device.exists(to) || from == to) return cudaErrorInvalidDevice;
    for (unsigned i = 0; i < count; ++i)
      capabilities[i] = capabilities_of(number_of(operations[i]));
    return cudaSuccess;
  });
}

// The documented error, because cudaDevAttrGPUDirectRDMASupported is 0.
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget,
                                               cudaFlushGPUDirectRDMAWritesScope) {
  return fail(cudaErrorNotSupported);
}

}  // extern "C"
