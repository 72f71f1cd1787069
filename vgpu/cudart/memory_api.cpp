// Allocation: device memory, page-locked host memory, and what a program may ask about a pointer.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstring>
#include <memory>

#include "vgpu/check/lifetime.hpp"
#include "vgpu/cudart/api.hpp"
#include "vgpu/cudart/call_log.hpp"
#include "vgpu/cudart/virtual_gpu.hpp"

namespace warpcheck::cudart {
namespace {

cudaError_t allocate(Device& device, void** pointer, std::size_t bytes) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  const vgpu::Allocation* const allocation = device.allocate(bytes);
  if (allocation == nullptr) return cudaErrorMemoryAllocation;
  *pointer = reinterpret_cast<void*>(allocation->address);
  return cudaSuccess;
}

void report_invalid_free(Device& device, std::string_view call, const void* pointer) {
  if (!device.settings().checkers.lifetime) return;
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const vgpu::Allocation* const nearest =
      device.owns(pointer) ? device.memory().nearest(address) : nullptr;
  device.add_finding(vgpu::invalid_host_free(call, address, nearest));
}

cudaError_t free_memory(Device& device, std::string_view call, void* pointer) {
  if (pointer == nullptr) return cudaSuccess;
  if (CallLog* const log = device.call_log()) log->free(pointer);
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  vgpu::Allocation* const allocation = device.memory().find(address);
  if (allocation == nullptr || allocation->address != address || allocation->on_heap() ||
      !allocation->name.empty()) {
    report_invalid_free(device, call, pointer);
    return cudaErrorInvalidValue;
  }
  device.free(*allocation);
  return cudaSuccess;
}

// Objects that outlive their trial may still give their memory back.
bool free_after_trial(void* pointer) {
  Device& device = Device::instance();
  const std::lock_guard lock(device.mutex());
  return device.trial_just_ended() && (pointer == nullptr || device.owns(pointer));
}

cudaError_t allocate_host(Device& device, void** pointer, std::size_t bytes, unsigned flags) {
  constexpr unsigned kFlags =
      cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  if (pointer == nullptr || (flags & ~kFlags) != 0) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  auto storage = std::make_unique<std::byte[]>(bytes);
  *pointer = storage.get();
  const auto address = reinterpret_cast<std::uintptr_t>(storage.get());
  device.host_blocks()[address] = {bytes, flags, std::move(storage)};
  return cudaSuccess;
}

}  // namespace
}  // namespace warpcheck::cudart

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return answer([&](Device& device) { return allocate(device, pointer, bytes); });
}

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  return answer([&](Device& device) {
    if (device.queues().find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    return allocate(device, pointer, bytes);
  });
}

cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  return answer([&](Device& device) {
    if (pointer == nullptr || pitch == nullptr) return cudaErrorInvalidValue;
    if (width > virtual_gpu::kPitchBytesMax) return cudaErrorInvalidValue;
    constexpr std::size_t kPitch = virtual_gpu::kPitchBytes;
    *pitch = (width + kPitch - 1) / kPitch * kPitch;
    std::size_t bytes = 0;
    if (__builtin_mul_overflow(*pitch, height, &bytes)) return cudaErrorMemoryAllocation;
    return allocate(device, pointer, bytes);
  });
}

cudaError_t cudaFree(void* pointer) {
  if (free_after_trial(pointer)) return cudaSuccess;
  return answer([&](Device& device) { return free_memory(device, "cudaFree", pointer); });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  if (free_after_trial(pointer)) return cudaSuccess;
  return answer([&](Device& device) {
    if (device.queues().find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    return free_memory(device, "cudaFreeAsync", pointer);
  });
}

cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return answer(
      [&](Device& device) { return allocate_host(device, pointer, bytes, cudaHostAllocDefault); });
}

cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return answer([&](Device& device) { return allocate_host(device, pointer, bytes, flags); });
}

cudaError_t cudaFreeHost(void* pointer) {
  return answer([&](Device& device) {
    if (pointer == nullptr) return cudaSuccess;
    auto& blocks = device.host_blocks();
    const auto found = blocks.find(reinterpret_cast<std::uintptr_t>(pointer));
    if (found == blocks.end() || found->second.storage == nullptr) return cudaErrorInvalidValue;
    blocks.erase(found);
    return cudaSuccess;
  });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return answer([&](Device& device) {
    if (pointer == nullptr || bytes == 0 || flags > 0xf) return cudaErrorInvalidValue;
    if (device.find_host_block(pointer) != nullptr) return cudaErrorHostMemoryAlreadyRegistered;
    device.host_blocks()[reinterpret_cast<std::uintptr_t>(pointer)] = {bytes, flags, nullptr};
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return answer([&](Device& device) {
    auto& blocks = device.host_blocks();
    const auto found = blocks.find(reinterpret_cast<std::uintptr_t>(pointer));
    if (found == blocks.end() || found->second.storage != nullptr) {
      return cudaErrorHostMemoryNotRegistered;
    }
    blocks.erase(found);
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return answer([&](Device& device) {
    const Device::HostBlock* const block = device.find_host_block(pointer);
    if (flags == nullptr || block == nullptr) return cudaErrorInvalidValue;
    *flags = block->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return answer([&](Device& device) {
    if (free == nullptr || total == nullptr) return cudaErrorInvalidValue;
    *total = device.memory().capacity_bytes();
    *free = *total - device.memory().used_bytes();
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return answer([&](Device& device) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    *attributes = {};
    auto* const address = const_cast<void*>(pointer);
    if (device.memory().find(reinterpret_cast<std::uint64_t>(pointer)) != nullptr) {
      attributes->type = cudaMemoryTypeDevice;
      attributes->devicePointer = address;
    } else if (device.find_host_block(pointer) != nullptr) {
      attributes->type = cudaMemoryTypeHost;  // no devicePointer: kernels cannot reach it
      attributes->hostPointer = address;
    } else {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
      attributes->hostPointer = address;
    }
    return cudaSuccess;
  });
}

}  // extern "C"
