// Queries about a kernel: attributes, names, occupancy.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/api/calls/api_call.hpp"
#include "vgpu/cudart/api/calls/call_place.hpp"
#include "vgpu/cudart/code/device_code.hpp"
#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/cudart/device/current_device.hpp"
#include "vgpu/cudart/device/meanwhile.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/launch/clusters.hpp"
#include "vgpu/cudart/launch/kernel_limits.hpp"

namespace warpcheck::cudart {

namespace {

// Runs `body(attributes, code, program)` for a host function or handle.
template <typename Body>
cudaError_t with_kernel(Device& device, const void* function, Body&& body) {
  if (function == nullptr) return cudaErrorInvalidDeviceFunction;
  Kernel* const kernel = Registry::instance().find_kernel(function);
  if (kernel == nullptr) {
    return device.errors().because(cudaErrorInvalidResourceHandle, "the pointer is no kernel");
  }
  const Allocations& memory = device.allocations();
  DeviceCode& code = kernel->unit->code(device.trial(), memory, kernel->name);
  return body(kernel->attributes_on(memory), code, code.link(kernel->name).program);
}

// Returns 75 for "sm_75", and 0 for other forms.
int target_version(const std::string& target) {
  const std::size_t digits = target.find_first_of("0123456789");
  return digits == std::string::npos ? 0 : std::stoi(target.substr(digits));
}

cudaError_t set_dynamic_shared_bytes(Device& device, KernelAttributes& attributes,
                                     const vgpu::Program& program, int value) {
  const std::size_t max = device.trial().capability().block_shared_bytes_opt_in();
  if (value < 0) {
    return device.errors().because(cudaErrorInvalidValue,
                                   fmt::format("{} bytes of dynamic shared memory < 0", value));
  }
  if (program.static_shared_bytes + static_cast<std::size_t>(value) > max) {
    return device.errors().because(
        cudaErrorInvalidValue,
        fmt::format("{} bytes of dynamic shared memory > {} of the device - {} static", value, max,
                    program.static_shared_bytes));
  }
  attributes.dynamic_shared_bytes_max = value;
  if (device.trial().in_ambient()) {
    attributes.dynamic_shared_bytes_set_at = callers_from(current_call().return_address);
  }
  return cudaSuccess;
}

cudaError_t set_attribute(Device& device, KernelAttributes& attributes,
                          const vgpu::Program& program, int attribute, int value) {
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      return set_dynamic_shared_bytes(device, attributes, program, value);
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      if (value < -1 || value > 100) {
        return device.errors().because(
            cudaErrorInvalidValue,
            fmt::format("a carveout of {}, and it is a percentage, or -1", value));
      }
      attributes.carveout = value;
      return cudaSuccess;
    case cudaFuncAttributeClusterDimMustBeSet:
    case cudaFuncAttributeRequiredClusterWidth:
    case cudaFuncAttributeRequiredClusterHeight:
    case cudaFuncAttributeRequiredClusterDepth:
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
      return set_cluster_attribute(attributes, program, attribute, value);
    default: return cudaErrorInvalidValue;
  }
}

}  // namespace
}  // namespace warpcheck::cudart

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

extern "C" {

cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  return answer([&](Device& device) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    return with_kernel(
        device, function,
        [&](KernelAttributes& set, DeviceCode& code, const warpcheck::vgpu::Program& program) {
          *attributes = {};
          describe_clusters(set, program, *attributes);
          attributes->sharedSizeBytes = program.static_shared_bytes;
          attributes->constSizeBytes = code.constant_bytes();
          attributes->localSizeBytes = program.local_bytes_max;
          attributes->maxThreadsPerBlock = static_cast<int>(program.max_threads);
          attributes->numRegs = virtual_gpu::kThreadRegisters;
          attributes->ptxVersion = target_version(code.module().target);
          attributes->binaryVersion = static_cast<int>(device.trial().capability().sm());
          attributes->maxDynamicSharedSizeBytes =
              static_cast<int>(dynamic_shared_bytes_max(set, program));
          attributes->preferredShmemCarveout = set.carveout;
          return cudaSuccess;
        });
  });
}

cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  return answer([&](Device& device) {
    return with_kernel(
        device, function,
        [&](KernelAttributes& set, DeviceCode&, const warpcheck::vgpu::Program& program) {
          return set_attribute(device, set, program, number_of(attribute), value);
        });
  });
}

// This is a preference; the virtual device has no cache to configure.
cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  return answer([&](Device& device) {
    return with_kernel(device, function,
                       [](KernelAttributes&, DeviceCode&, const auto&) { return cudaSuccess; });
  });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig) {
  return cudaFuncSetCacheConfig(function, cudaFuncCachePreferNone);
}

cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel, cudaFuncAttribute attribute,
                                            int value, int number) {
  const cudaError_t error = answer(
      [&](Device& device) { return device.exists(number) ? cudaSuccess : cudaErrorInvalidDevice; });
  if (error != cudaSuccess) return error;
  const Meanwhile of_thread(current_device(), static_cast<unsigned>(number));
  return cudaFuncSetAttribute(kernel, attribute, value);
}

cudaError_t cudaFuncGetName(const char** name, const void* function) {
  return answer([&](Device&) {
    if (name == nullptr) return cudaErrorInvalidValue;
    const Kernel* const kernel = Registry::instance().find_kernel(function);
    if (kernel == nullptr) return cudaErrorInvalidResourceHandle;
    *name = kernel->name.c_str();
    return cudaSuccess;
  });
}

cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset,
                                 size_t* bytes) {
  return answer([&](Device& device) {
    return with_kernel(
        device, function,
        [&](KernelAttributes&, DeviceCode&, const warpcheck::vgpu::Program& program) {
          if (index >= program.parameters.size() || offset == nullptr) {
            return cudaErrorInvalidValue;
          }
          *offset = program.parameters[index].offset;
          if (bytes != nullptr) *bytes = program.parameters[index].bytes;
          return cudaSuccess;
        });
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int* blocks, const void* function, int threads, size_t dynamic_shared_bytes, unsigned flags) {
  return answer([&](Device& device) {
    if (blocks == nullptr || threads < 1) return cudaErrorInvalidValue;
    if (flags != cudaOccupancyDefault && flags != cudaOccupancyDisableCachingOverride) {
      return cudaErrorInvalidValue;
    }
    return with_kernel(
        device, function,
        [&](KernelAttributes& set, DeviceCode&, const warpcheck::vgpu::Program& program) {
          const bool fits = dynamic_shared_bytes <= dynamic_shared_bytes_max(set, program);
          *blocks = fits ? resident_blocks(device.trial().capability(), program, threads,
                                           dynamic_shared_bytes)
                         : 0;
          return cudaSuccess;
        });
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function,
                                                          int threads,
                                                          size_t dynamic_shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
      blocks, function, threads, dynamic_shared_bytes, cudaOccupancyDefault);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t* dynamic_shared_bytes,
                                                      const void* function, int blocks,
                                                      int threads) {
  return answer([&](Device& device) {
    if (dynamic_shared_bytes == nullptr || blocks < 1 || threads < 1) {
      return cudaErrorInvalidValue;
    }
    return with_kernel(
        device, function,
        [&](KernelAttributes& set, DeviceCode&, const warpcheck::vgpu::Program& program) {
          const virtual_gpu::Capability& capability = device.trial().capability();
          const std::size_t share =
              capability.multiprocessor_shared_bytes / static_cast<std::size_t>(blocks);
          const std::size_t used = program.static_shared_bytes + capability.reserved_shared_bytes;
          *dynamic_shared_bytes =
              std::min(share > used ? share - used : 0, dynamic_shared_bytes_max(set, program));
          return cudaSuccess;
        });
  });
}

}  // extern "C"
