// Virtual memory management and multicast objects of the driver API
// (vgpu/cudart/memory/virtual_memory.hpp, multicasts.hpp).
#include <cuda.h>

#include <cstdint>
#include <cstring>
#include <span>

#include "vgpu/cudart/driver/driver_call.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

// Runs body(virtual memory, device), which returns a driver error.
template <typename Body>
CUresult in_virtual_memory(Body&& body) {
  return after_init([&] {
    return answer(
        [&](Device& device) { return error_of(body(device.system().virtual_memory(), device)); });
  });
}

bool is_device(const CUmemLocation& location, const Device& device) {
  return number_of(location.type) == CU_MEM_LOCATION_TYPE_DEVICE && device.exists(location.id);
}

// Page-locked host memory, and memory for sparse arrays, are not supported.
CUresult check_properties(const CUmemAllocationProp* properties, const Device& device) {
  if (properties == nullptr || number_of(properties->type) != CU_MEM_ALLOCATION_TYPE_PINNED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const int type = number_of(properties->location.type);
  if (type == CU_MEM_LOCATION_TYPE_HOST || type == CU_MEM_LOCATION_TYPE_HOST_NUMA ||
      type == CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT) {
    throw warpcheck::vgpu::Refusal("cuMemCreate of memory of the host");
  }
  // As on a device whose attributes say so: a file descriptor, and no other handle.
  const int handles = number_of(properties->requestedHandleTypes);
  if ((handles & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  return is_device(properties->location, device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

bool is_descriptor(CUmemAllocationHandleType type) {
  return number_of(type) == CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
}

}  // namespace

extern "C" {

CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t alignment, CUdeviceptr hint,
                             unsigned long long flags) {
  return in_virtual_memory([&](VirtualMemory& memory, Device&) {
    if (address == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return memory.reserve(*address, bytes, alignment, hint);
  });
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  return in_virtual_memory(
      [&](VirtualMemory& memory, Device&) { return memory.free_address(address, bytes); });
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes,
                     const CUmemAllocationProp* properties, unsigned long long flags) {
  return in_virtual_memory([&](VirtualMemory& memory, Device& device) {
    if (handle == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    const CUresult bad = check_properties(properties, device);
    if (bad != CUDA_SUCCESS) return bad;
    Device owner = device.other(properties->location.id);
    return memory.create(*handle, bytes, *properties, owner.allocations());
  });
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return in_virtual_memory([&](VirtualMemory& memory, Device&) { return memory.release(handle); });
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* pointer) {
  return in_virtual_memory([&](VirtualMemory& memory, Device&) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return memory.retain(*handle, to_address(pointer));
  });
}

// The program sends the descriptor to the other process by means that do not wait for the device,
// so earlier operations are completed here.
CUresult cuMemExportToShareableHandle(void* exported, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  return in_virtual_memory([&](VirtualMemory& memory, Device& device) {
    require_exec("cuMemExportToShareableHandle");
    if (exported == nullptr || flags != 0 || !is_descriptor(type)) return CUDA_ERROR_INVALID_VALUE;
    device.execution().run_all_for_nobody();
    int descriptor = -1;
    const CUresult result = memory.export_memory(descriptor, handle, device.process_memory());
    if (result == CUDA_SUCCESS) std::memcpy(exported, &descriptor, sizeof descriptor);
    return result;
  });
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* imported,
                                        CUmemAllocationHandleType type) {
  return in_virtual_memory([&](VirtualMemory& memory, Device& device) {
    require_exec("cuMemImportFromShareableHandle");
    if (handle == nullptr || !is_descriptor(type)) return CUDA_ERROR_INVALID_VALUE;
    const auto allocations_of = [&](int number) {
      return device.exists(number) ? &device.other(number).allocations() : nullptr;
    };
    const auto descriptor = static_cast<int>(reinterpret_cast<std::intptr_t>(imported));
    return memory.import_memory(*handle, descriptor, device.process_memory(), allocations_of);
  });
}

CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags) {
  return in_virtual_memory([&](VirtualMemory& memory, Device&) {
    if (offset != 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return memory.map(address, bytes, handle);
  });
}

CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  return in_virtual_memory(
      [&](VirtualMemory& memory, Device&) { return memory.unmap(address, bytes); });
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* accesses,
                        size_t count) {
  return in_virtual_memory([&](VirtualMemory& memory, Device& device) {
    if (accesses == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    const std::span<const CUmemAccessDesc> all(accesses, count);
    for (const CUmemAccessDesc& access : all) {
      const int flags = number_of(access.flags);
      const bool is_known = flags == CU_MEM_ACCESS_FLAGS_PROT_NONE ||
                            flags == CU_MEM_ACCESS_FLAGS_PROT_READ ||
                            flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
      if (!is_known) return CUDA_ERROR_INVALID_VALUE;
      if (!is_device(access.location, device)) return CUDA_ERROR_INVALID_DEVICE;
    }
    return memory.set_access(address, bytes, all);
  });
}

CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location,
                        CUdeviceptr address) {
  return in_virtual_memory([&](VirtualMemory& memory, Device& device) {
    if (flags == nullptr || location == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (!is_device(*location, device)) return CUDA_ERROR_INVALID_DEVICE;
    return memory.access(*flags, static_cast<unsigned>(location->id), address);
  });
}

CUresult cuMemGetAllocationGranularity(size_t* bytes, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags option) {
  return in_virtual_memory([&](VirtualMemory&, Device& device) {
    const int wanted = number_of(option);
    if (bytes == nullptr || (wanted != CU_MEM_ALLOC_GRANULARITY_MINIMUM &&
                             wanted != CU_MEM_ALLOC_GRANULARITY_RECOMMENDED)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const CUresult bad = check_properties(properties, device);
    if (bad == CUDA_SUCCESS) *bytes = VirtualMemory::kGranularity;
    return bad;
  });
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties,
                                                CUmemGenericAllocationHandle handle) {
  return in_virtual_memory([&](VirtualMemory& memory, Device&) {
    const CUmemAllocationProp* const known = memory.properties(handle);
    if (properties == nullptr || known == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *properties = *known;
    return CUDA_SUCCESS;
  });
}

CUresult cuMulticastCreate(CUmemGenericAllocationHandle* handle,
                           const CUmulticastObjectProp* properties) {
  return in_virtual_memory([&](VirtualMemory& memory, Device& device) {
    if (handle == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const bool has_devices =
        properties->numDevices != 0 && device.exists(static_cast<int>(properties->numDevices) - 1);
    return has_devices ? memory.create_multicast(*handle, *properties) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle handle, CUdevice number) {
  return in_virtual_memory([&](VirtualMemory& memory, Device& device) {
    if (!device.exists(number)) return CUDA_ERROR_INVALID_DEVICE;
    return memory.add_multicast_device(handle, static_cast<unsigned>(number));
  });
}

CUresult cuMulticastBindMem(CUmemGenericAllocationHandle handle, size_t offset,
                            CUmemGenericAllocationHandle bound, size_t bound_offset, size_t bytes,
                            unsigned long long flags) {
  return in_virtual_memory([&](VirtualMemory& memory, Device&) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return memory.bind_multicast(handle, offset, bound, bound_offset, bytes);
  });
}

CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle handle, size_t offset,
                             CUdeviceptr address, size_t bytes, unsigned long long flags) {
  return in_virtual_memory([&](VirtualMemory& memory, Device&) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return memory.bind_multicast_address(handle, offset, address, bytes);
  });
}

CUresult cuMulticastUnbind(CUmemGenericAllocationHandle handle, CUdevice number, size_t offset,
                           size_t bytes) {
  return in_virtual_memory([&](VirtualMemory& memory, Device& device) {
    if (!device.exists(number)) return CUDA_ERROR_INVALID_DEVICE;
    return memory.unbind_multicast(handle, static_cast<unsigned>(number), offset, bytes);
  });
}

CUresult cuMulticastGetGranularity(size_t* bytes, const CUmulticastObjectProp* properties,
                                   CUmulticastGranularity_flags option) {
  return in_virtual_memory([&](VirtualMemory&, Device&) {
    const int wanted = number_of(option);
    if (bytes == nullptr || properties == nullptr ||
        (wanted != CU_MULTICAST_GRANULARITY_MINIMUM &&
         wanted != CU_MULTICAST_GRANULARITY_RECOMMENDED)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *bytes = VirtualMemory::kGranularity;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
