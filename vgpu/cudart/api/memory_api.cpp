// Allocation: device memory, page-locked host memory, and what a program may ask about a pointer.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "vgpu/check/lifetime.hpp"
#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/api/call_log.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"

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
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const vgpu::Allocation* const nearest =
      device.owns(pointer) ? device.memory().nearest(address) : nullptr;
  device.add_finding(vgpu::invalid_host_free(call, address, nearest));
}

// stream: where it is freed when its turn comes.  Null: at once, when the whole device is done, as
// cudaFree waits for it.
cudaError_t free_memory(Device& device, std::string_view call, void* pointer, Stream* stream) {
  if (pointer == nullptr) return cudaSuccess;
  if (stream == nullptr) device.wait_for_all();
  if (device.sticky_error() != cudaSuccess) return device.sticky_error();
  if (CallLog* const log = device.call_log()) log->free(pointer);
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  vgpu::Allocation* const allocation = device.memory().find(address);
  if (allocation == nullptr || allocation->address != address || allocation->on_heap() ||
      !allocation->name.empty() || allocation->page_locked) {
    report_invalid_free(device, call, pointer);
    return cudaErrorInvalidValue;
  }
  if (device.to_be_freed().contains(allocation)) {
    device.add_finding(vgpu::freed_twice(call, *allocation));
    return cudaErrorInvalidValue;
  }
  const auto& of_graphs = device.graphs().memory;
  const auto graphs = of_graphs.find(allocation);
  if (stream != nullptr && stream->capture != nullptr && graphs == of_graphs.end()) {
    throw vgpu::Refusal(
        "cudaFreeAsync in a captured stream, of memory that was not allocated in one");
  }
  if (stream == nullptr && graphs != of_graphs.end() && !graphs->second) {
    device.add_finding(vgpu::freed_twice(call, *allocation));
    return cudaErrorInvalidValue;
  }
  if (stream != nullptr) {
    if (graphs == of_graphs.end()) device.to_be_freed().insert(allocation);
    FreeWork work;
    work.allocation = allocation;
    return device.submit(*stream, work, false);
  }
  device.free(*allocation);
  return cudaSuccess;
}

// An allocation node.
cudaError_t allocate_captured(Device& device, Stream& stream, void** pointer, std::size_t bytes) {
  if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
  Work work;
  *pointer = allocate_in_graph(device, bytes, work);
  if (*pointer == nullptr) return cudaErrorMemoryAllocation;
  return device.submit(stream, std::move(work), false);
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
  vgpu::Allocation* const allocation = device.allocate_mapped(bytes);
  if (allocation == nullptr) return cudaErrorMemoryAllocation;
  allocation->page_locked = true;
  *pointer = reinterpret_cast<void*>(allocation->address);
  device.host_blocks()[allocation->address] = {bytes, flags, false, allocation};
  return cudaSuccess;
}

}  // namespace
}  // namespace warpcheck::cudart

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)
namespace vgpu = warpcheck::vgpu;

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return answer([&](Device& device) { return allocate(device, pointer, bytes); });
}

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  return on_stream("cudaMallocAsync", stream, [&](Device& device, Stream& found) {
    if (found.capture != nullptr) return allocate_captured(device, found, pointer, bytes);
    return allocate_from(device, device.pools().current(), pointer, bytes);
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
    const cudaError_t error = allocate(device, pointer, bytes);
    if (error == cudaSuccess && bytes != 0) {
      vgpu::Allocation* const made =
          device.memory().find(reinterpret_cast<std::uint64_t>(*pointer));
      made->row_bytes = static_cast<std::uint32_t>(width);
      made->pitch = static_cast<std::uint32_t>(*pitch);
    }
    return error;
  });
}

cudaError_t cudaMalloc3D(cudaPitchedPtr* pitched, cudaExtent extent) {
  if (pitched == nullptr) return fail(cudaErrorInvalidValue);
  *pitched = {nullptr, 0, extent.width, extent.height};
  return cudaMallocPitch(&pitched->ptr, &pitched->pitch, extent.width,
                         extent.height * extent.depth);
}

cudaError_t cudaFree(void* pointer) {
  if (free_after_trial(pointer)) return cudaSuccess;
  return answer([&](Device& device) { return free_memory(device, "cudaFree", pointer, nullptr); });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  if (free_after_trial(pointer)) return cudaSuccess;
  return on_stream("cudaFreeAsync", stream, [&](Device& device, Stream& found) {
    return free_memory(device, "cudaFreeAsync", pointer, &found);
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
  if (free_after_trial(pointer)) return cudaSuccess;
  return answer([&](Device& device) {
    if (pointer == nullptr) return cudaSuccess;
    auto& blocks = device.host_blocks();
    const auto found = blocks.find(reinterpret_cast<std::uintptr_t>(pointer));
    if (found == blocks.end() || found->second.registered) {
      report_invalid_free(device, "cudaFreeHost", pointer);
      return cudaErrorInvalidValue;
    }
    device.wait_for_all();
    device.free(*found->second.allocation);
    blocks.erase(found);
    return device.sticky_error();
  });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return answer([&](Device& device) {
    if (pointer == nullptr || bytes == 0 || flags > 0xf) return cudaErrorInvalidValue;
    if (device.find_host_block(pointer) != nullptr) return cudaErrorHostMemoryAlreadyRegistered;
    device.host_blocks()[reinterpret_cast<std::uintptr_t>(pointer)] = {bytes, flags, true, nullptr};
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return answer([&](Device& device) {
    auto& blocks = device.host_blocks();
    const auto found = blocks.find(reinterpret_cast<std::uintptr_t>(pointer));
    if (found == blocks.end() || !found->second.registered) {
      return cudaErrorHostMemoryNotRegistered;
    }
    device.wait_for_all();
    if (found->second.allocation != nullptr) device.free(*found->second.allocation);
    blocks.erase(found);
    return device.sticky_error();
  });
}

// Of registered memory, kernels have an address of their own: the device has no
// cudaDevAttrCanUseHostPointerForRegisteredMem.
cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* pointer, unsigned flags) {
  return answer([&](Device& device) {
    if (device_pointer == nullptr || flags != 0) return cudaErrorInvalidValue;
    std::uintptr_t start = 0;
    const Device::HostBlock* const found = device.find_host_block(pointer, &start);
    if (found == nullptr) return cudaErrorInvalidValue;
    Device::HostBlock& block = device.host_blocks()[start];
    if (block.allocation == nullptr) {
      block.allocation = device.allocate(block.bytes);
      if (block.allocation == nullptr) return cudaErrorMemoryAllocation;
      block.allocation->page_locked = true;
      device.host_write(*block.allocation, 0, block.allocation->bytes);
    }
    const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(pointer) - start;
    *device_pointer = reinterpret_cast<void*>(block.allocation->address + offset);
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
    const vgpu::Allocation* const found =
        device.memory().find(reinterpret_cast<std::uint64_t>(pointer));
    std::uintptr_t start = 0;
    if (const Device::HostBlock* const block = device.find_host_block(pointer, &start)) {
      attributes->type = cudaMemoryTypeHost;
      attributes->hostPointer = address;
      if (block->allocation != nullptr) {
        const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(pointer) - start;
        attributes->devicePointer = reinterpret_cast<void*>(block->allocation->address + offset);
      }
    } else if (found != nullptr) {
      attributes->type = found->managed ? cudaMemoryTypeManaged : cudaMemoryTypeDevice;
      attributes->devicePointer = address;
      attributes->hostPointer = found->managed ? address : nullptr;
    } else {
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
      attributes->hostPointer = address;
    }
    return cudaSuccess;
  });
}

}  // extern "C"
