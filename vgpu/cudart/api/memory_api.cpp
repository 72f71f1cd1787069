// Allocation of device memory and page-locked host memory, and queries about a pointer.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "vgpu/check/lifetime.hpp"
#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/api/calls/call_log.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"

namespace warpcheck::cudart {
namespace {

cudaError_t allocate(Device& device, void** pointer, std::size_t bytes) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  const vgpu::Allocation* const allocation = device.allocations().allocate(bytes);
  if (allocation == nullptr) return cudaErrorMemoryAllocation;
  *pointer = reinterpret_cast<void*>(allocation->address);
  return cudaSuccess;
}

void report_invalid_free(Device& device, std::string_view call, const void* pointer) {
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  const vgpu::Allocation* const nearest = device.allocations().nearest(pointer);
  device.findings().add(vgpu::invalid_host_free(
      reported_name(call), address, nearest,
      nearest == nullptr ? vgpu::HostPlace{}
                         : device.findings().mishaps().place_of_free(*nearest)));
}

void report_freed_twice(Device& device, std::string_view call, const vgpu::Allocation& allocation) {
  device.findings().add(vgpu::freed_twice(reported_name(call), allocation,
                                          device.findings().mishaps().place_of_free(allocation)));
}

// cudaFree waits for the device that owns the memory.
void wait_for_owner(Device& device, const void* pointer) {
  const vgpu::Allocation* const allocation = device.allocations().find(pointer);
  device.execution().wait_for_device(allocation != nullptr ? allocation->device : device.number());
}

// stream: frees the memory when it is the operation's turn in this stream.  Null: frees it at once
// after waiting for the whole device, as cudaFree does.
cudaError_t free_memory(Device& device, std::string_view call, void* pointer, Stream* stream) {
  if (pointer == nullptr) return cudaSuccess;
  if (stream == nullptr) wait_for_owner(device, pointer);
  if (device.errors().sticky() != cudaSuccess) return device.errors().sticky();
  if (device.trial().settings().supposed.late_frees) return cudaSuccess;
  if (CallLog* const log = device.recording().log()) log->free(pointer);
  Allocations& allocations = device.allocations();
  vgpu::Allocation* const allocation = allocations.find(pointer);
  const auto address = reinterpret_cast<std::uint64_t>(pointer);
  if (allocation == nullptr || allocation->address != address || allocation->on_heap() ||
      !allocation->name.empty() || (allocation->page_locked && !allocation->of_pool) ||
      allocation->of_virtual || device.process_memory().is_opened(*allocation)) {
    report_invalid_free(device, call, pointer);
    return cudaErrorInvalidValue;
  }
  if (allocations.is_freed_later(*allocation)) {
    report_freed_twice(device, call, *allocation);
    return cudaErrorInvalidValue;
  }
  const bool is_of_graph = allocations.of_graphs().has(*allocation);
  if (stream != nullptr && stream->capture != nullptr && !is_of_graph) {
    throw vgpu::Refusal(
        "cudaFreeAsync in a captured stream, of memory that was not allocated in one");
  }
  if (stream == nullptr && allocations.of_graphs().is_unused(*allocation)) {
    report_freed_twice(device, call, *allocation);
    return cudaErrorInvalidValue;
  }
  if (stream != nullptr) {
    if (is_of_graph) {
      device.findings().mishaps().free_requested(*allocation);
    } else {
      allocations.free_later(*allocation);
    }
    return device.execution().submit(*stream, FreeWork{reported_name(call), allocation}, false);
  }
  device.host_accesses().freed(*allocation);
  device.process_memory().freed(*allocation);
  allocations.free(*allocation);
  return cudaSuccess;
}

// Adds an allocation node to the captured graph.
cudaError_t allocate_captured(Device& device, Stream& stream, std::string_view call, void** pointer,
                              std::size_t bytes) {
  if (pointer == nullptr || bytes == 0) return cudaErrorInvalidValue;
  Work work;
  *pointer = allocate_in_graph(device.allocations(), call, bytes, work);
  if (*pointer == nullptr) return cudaErrorMemoryAllocation;
  return device.execution().submit(stream, std::move(work), false);
}

// Objects of the program that outlive their trial may still free their memory.
bool is_freed_after_trial(Device& device, void* pointer) {
  return device.trial().has_just_ended() &&
         (pointer == nullptr || device.allocations().owns(pointer));
}
bool is_freed_after_trial(void* pointer) {
  return with_device([&](Device& device) { return is_freed_after_trial(device, pointer); });
}

// Returns nullptr if there is none.
const HostBlock* block_that_begins_at(Device& device, const void* pointer) {
  const HostBlock* const block = device.host_blocks().find(pointer);
  return block != nullptr && block->offset_of(pointer) == 0 ? block : nullptr;
}

cudaError_t allocate_host(Device& device, void** pointer, std::size_t bytes, unsigned flags) {
  constexpr unsigned kFlags =
      cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  if (pointer == nullptr) return cudaErrorInvalidValue;
  if (const cudaError_t error = check_flags(device, flags, kFlags)) return error;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  vgpu::Allocation* const allocation = device.allocations().allocate_mapped(bytes);
  if (allocation == nullptr) return cudaErrorMemoryAllocation;
  allocation->page_locked = true;
  device.host_accesses().allocated(*allocation);
  *pointer = reinterpret_cast<void*>(allocation->address);
  device.host_blocks().add({allocation->address, bytes, flags, false, allocation, device.number()});
  return cudaSuccess;
}

}  // namespace
}  // namespace warpcheck::cudart

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)
namespace vgpu = warpcheck::vgpu;

extern "C" {

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  bool is_zeroed = false;
  const cudaError_t error = answer([&](Device& device) {
    is_zeroed = device.trial().settings().supposed.zeroed_memory;
    return allocate(device, pointer, bytes);
  });
  return error == cudaSuccess && is_zeroed ? cudaMemset(*pointer, 0, bytes) : error;
}

cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  constexpr std::string_view kCall = "cudaMallocAsync";
  return on_stream(kCall, stream, [&](Device& device, Stream& found) {
    if (found.capture != nullptr) return allocate_captured(device, found, kCall, pointer, bytes);
    return allocate_from(device, device.pools().current(found.device), found, kCall, pointer,
                         bytes);
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
      vgpu::Allocation* const made = device.allocations().find(*pointer);
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
  return with_device([&](Device& device) {
    if (is_freed_after_trial(device, pointer)) return cudaSuccess;
    return answer(device,
                  [&](Device& same) { return free_memory(same, "cudaFree", pointer, nullptr); });
  });
}

cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  if (is_freed_after_trial(pointer)) return cudaSuccess;
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
  if (is_freed_after_trial(pointer)) return cudaSuccess;
  return answer([&](Device& device) {
    if (pointer == nullptr) return cudaSuccess;
    const HostBlock* const block = block_that_begins_at(device, pointer);
    if (block == nullptr || block->registered) {
      report_invalid_free(device, "cudaFreeHost", pointer);
      return cudaErrorInvalidValue;
    }
    device.execution().wait_for_all();
    device.host_accesses().freed(*block->allocation);
    device.allocations().free(*block->allocation);
    device.host_blocks().remove(*block);
    return device.errors().sticky();
  });
}

cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return answer([&](Device& device) {
    if (pointer == nullptr || bytes == 0 || flags > 0xf) return cudaErrorInvalidValue;
    if (device.host_blocks().find(pointer) != nullptr) return cudaErrorHostMemoryAlreadyRegistered;
    device.host_blocks().add({.start = reinterpret_cast<std::uintptr_t>(pointer),
                              .bytes = bytes,
                              .flags = flags,
                              .registered = true,
                              .device = device.number()});
    return cudaSuccess;
  });
}

cudaError_t cudaHostUnregister(void* pointer) {
  return answer([&](Device& device) {
    const HostBlock* const block = block_that_begins_at(device, pointer);
    if (block == nullptr || !block->registered) return cudaErrorHostMemoryNotRegistered;
    device.execution().wait_for_all();
    if (block->allocation != nullptr) device.allocations().free(*block->allocation);
    device.host_blocks().remove(*block);
    return device.errors().sticky();
  });
}

// Kernels use another address for registered memory, because the device lacks
// cudaDevAttrCanUseHostPointerForRegisteredMem.
cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* pointer, unsigned flags) {
  return answer([&](Device& device) {
    if (device_pointer == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_flags(device, flags, 0)) return error;
    HostBlock* const block = device.host_blocks().find(pointer);
    if (block == nullptr) {
      return device.errors().because(
          cudaErrorInvalidValue,
          "the memory is not page-locked: cudaHostAlloc() and cudaHostRegister() make it so");
    }
    if (block->allocation == nullptr) {
      block->allocation = device.allocations().allocate(block->bytes);
      if (block->allocation == nullptr) return cudaErrorMemoryAllocation;
      block->allocation->page_locked = true;
      if (ExecSession* const session = device.trial().exec_session()) {
        session->not_checked(
            "what the host reads and writes in memory that it has registered (cudaHostRegister)");
      }
      device.allocations().fill_from_host(*block->allocation);
    }
    *device_pointer =
        reinterpret_cast<void*>(block->allocation->address + block->offset_of(pointer));
    return cudaSuccess;
  });
}

cudaError_t cudaHostGetFlags(unsigned* flags, void* pointer) {
  return answer([&](Device& device) {
    const HostBlock* const block = device.host_blocks().find(pointer);
    if (flags == nullptr || block == nullptr) return cudaErrorInvalidValue;
    *flags = block->flags;
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return answer([&](Device& device) {
    if (free == nullptr || total == nullptr) return cudaErrorInvalidValue;
    *total = device.allocations().capacity_bytes();
    *free = *total - device.allocations().used_bytes();
    return cudaSuccess;
  });
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  return answer([&](Device& device) {
    if (attributes == nullptr) return cudaErrorInvalidValue;
    *attributes = {};
    auto* const address = const_cast<void*>(pointer);
    const vgpu::Allocation* const found = device.allocations().find(pointer);
    if (const HostBlock* const block = device.host_blocks().find(pointer)) {
      attributes->type = cudaMemoryTypeHost;
      attributes->device = static_cast<int>(block->device);
      attributes->hostPointer = address;
      if (block->allocation != nullptr) {
        attributes->devicePointer =
            reinterpret_cast<void*>(block->allocation->address + block->offset_of(pointer));
      }
    } else if (found != nullptr) {
      attributes->type = found->page_locked ? cudaMemoryTypeHost
                         : found->managed   ? cudaMemoryTypeManaged
                                            : cudaMemoryTypeDevice;
      attributes->device = found->device;
      const bool is_open = found->is_open_to(device.number(), device.own().peers);
      attributes->devicePointer = is_open ? address : nullptr;
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
