// Memory of the driver API: device, managed and page-locked memory, pools, and queries about a
// pointer.
#include <cuda.h>

#include <cstdint>

#include "vgpu/cudart/driver/driver_call.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)
namespace vgpu = warpcheck::vgpu;

namespace {

cudaError_t keep(CUdeviceptr* address, void* made, cudaError_t error) {
  if (error != cudaSuccess) return error;
  *address = to_address(made);
  if (made != nullptr) own_memory(*address);
  return error;
}

// Runs `body(pointer)`, which allocates.  The driver refuses to allocate 0 bytes.
template <typename Body>
CUresult allocate(CUdeviceptr* address, std::size_t bytes, Body&& body) {
  return in_context([&] {
    if (address == nullptr || bytes == 0) return fail(cudaErrorInvalidValue);
    void* made = nullptr;
    const cudaError_t error = body(&made);
    return keep(address, made, error);
  });
}

cudaMemLocation location_of(const CUmemLocation& location) {
  cudaMemLocation made{};
  static_assert(static_cast<int>(CU_MEM_LOCATION_TYPE_DEVICE) ==
                static_cast<int>(cudaMemLocationTypeDevice));
  static_assert(static_cast<int>(CU_MEM_LOCATION_TYPE_HOST) ==
                static_cast<int>(cudaMemLocationTypeHost));
  made.type = static_cast<cudaMemLocationType>(number_of(location.type));
  made.id = location.id;
  return made;
}

// The form before CUDA 12.2: a device, or CU_DEVICE_CPU.
cudaMemLocation location_of(CUdevice device) {
  cudaMemLocation made{};
  made.type = device == CU_DEVICE_CPU ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
  made.id = device == CU_DEVICE_CPU ? 0 : device;
  return made;
}

struct PointerFacts {
  cudaPointerAttributes known{};
  std::uint64_t begin = 0;
  std::size_t bytes = 0;
  std::uint32_t id = 0;
  bool is_mapped = false;  // on the device
};

cudaError_t facts_of(CUdeviceptr address, PointerFacts& facts) {
  const cudaError_t error = cudaPointerGetAttributes(&facts.known, to_pointer(address));
  if (error != cudaSuccess) return error;
  with_device([&](Device& device) {
    const vgpu::Allocation* const found = device.allocations().find(to_pointer(address));
    if (found == nullptr) return;
    facts.begin = found->address;
    facts.bytes = found->bytes;
    facts.id = found->id + 1;
    facts.is_mapped = true;
  });
  return cudaSuccess;
}

template <typename T>
CUresult put(void* data, T value) {
  *static_cast<T*>(data) = value;
  return CUDA_SUCCESS;
}

CUresult put_attribute(void* data, int attribute, CUdeviceptr address, const PointerFacts& facts) {
  const bool is_known = facts.known.type != cudaMemoryTypeUnregistered;
  if (!is_known) return CUDA_ERROR_INVALID_VALUE;
  const bool is_of_host = facts.known.type == cudaMemoryTypeHost;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return put(data, handle_of(&primary_context(facts.known.device)));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(data,
                 static_cast<unsigned>(is_of_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      return put(data, to_address(facts.known.devicePointer));
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (facts.known.hostPointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
      return put(data, facts.known.hostPointer);
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: return put(data, 0u);
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return put(data, static_cast<unsigned long long>(facts.id));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put(data, static_cast<unsigned>(facts.known.type == cudaMemoryTypeManaged));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return put(data, facts.known.device);
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE:
    case CU_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE: return put(data, 0u);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return put(data, facts.is_mapped ? CUdeviceptr{facts.begin} : address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE: return put(data, facts.bytes);
    case CU_POINTER_ATTRIBUTE_MAPPED: return put(data, static_cast<unsigned>(facts.is_mapped));
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES: return put(data, 0ull);
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return put(data, static_cast<int>(CU_POINTER_ATTRIBUTE_ACCESS_FLAG_READWRITE));
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE: return put(data, CUmemoryPool{nullptr});
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

}  // namespace

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  return allocate(address, bytes, [&](void** made) { return cudaMalloc(made, bytes); });
}

CUresult cuMemAllocPitch_v2(CUdeviceptr* address, size_t* pitch, size_t width, size_t height,
                            unsigned element) {
  return allocate(address, width * height, [&](void** made) {
    if (element != 4 && element != 8 && element != 16) return fail(cudaErrorInvalidValue);
    return cudaMallocPitch(made, pitch, width, height);
  });
}

CUresult cuMemAllocManaged(CUdeviceptr* address, size_t bytes, unsigned flags) {
  return allocate(address, bytes,
                  [&](void** made) { return cudaMallocManaged(made, bytes, flags); });
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  return in_context([&] {
    disown_memory(address);
    return cudaFree(to_pointer(address));
  });
}

CUresult cuMemAllocAsync(CUdeviceptr* address, size_t bytes, CUstream stream) {
  return allocate(address, bytes,
                  [&](void** made) { return cudaMallocAsync(made, bytes, stream); });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* address, size_t bytes, CUmemoryPool pool,
                                 CUstream stream) {
  return allocate(address, bytes,
                  [&](void** made) { return cudaMallocFromPoolAsync(made, bytes, pool, stream); });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream) {
  return in_context([&] {
    disown_memory(address);
    return cudaFreeAsync(to_pointer(address), stream);
  });
}

CUresult cuMemAllocHost_v2(void** pointer, size_t bytes) {
  return in_context([&] {
    if (bytes == 0) return fail(cudaErrorInvalidValue);
    return cudaMallocHost(pointer, bytes);
  });
}
CUresult virtual_cuMemAllocHost(void** pointer, unsigned bytes) {
  return cuMemAllocHost_v2(pointer, bytes);
}

CUresult cuMemHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  return in_context([&] {
    if (bytes == 0) return fail(cudaErrorInvalidValue);
    return cudaHostAlloc(pointer, bytes, flags);
  });
}

CUresult virtual_cuMemHostRegister(void* pointer, size_t bytes, unsigned flags) {
  return cuMemHostRegister_v2(pointer, bytes, flags);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr* address, void* pointer, unsigned flags) {
  return in_context([&] {
    if (address == nullptr) return fail(cudaErrorInvalidValue);
    void* found = nullptr;
    const cudaError_t error = cudaHostGetDevicePointer(&found, pointer, flags);
    if (error == cudaSuccess) *address = to_address(found);
    return error;
  });
}

CUresult cuMemGetAddressRange_v2(CUdeviceptr* begin, size_t* bytes, CUdeviceptr address) {
  return in_context([&] {
    return answer([&](Device& device) {
      const vgpu::Allocation* const found = device.allocations().find(to_pointer(address));
      if (found == nullptr) return error_of(CUDA_ERROR_NOT_FOUND);
      if (begin != nullptr) *begin = found->address;
      if (bytes != nullptr) *bytes = found->bytes;
      return cudaSuccess;
    });
  });
}

CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  return in_context([&] {
    if (data == nullptr) return fail(cudaErrorInvalidValue);
    PointerFacts facts;
    if (const cudaError_t error = facts_of(address, facts)) return error;
    const CUresult result = put_attribute(data, number_of(attribute), address, facts);
    return result == CUDA_SUCCESS ? cudaSuccess : fail(error_of(result));
  });
}

// Attributes that do not apply to the pointer are 0, without an error (CUDA Driver API,
// cuPointerGetAttributes).
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* attributes, void** data,
                                CUdeviceptr address) {
  return in_context([&] {
    if (attributes == nullptr || data == nullptr) return fail(cudaErrorInvalidValue);
    PointerFacts facts;
    if (const cudaError_t error = facts_of(address, facts)) return error;
    for (unsigned i = 0; i < count; ++i) {
      const int attribute = number_of(attributes[i]);
      if (put_attribute(data[i], attribute, address, facts) == CUDA_SUCCESS) continue;
      switch (attribute) {
        case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: put(data[i], CU_DEVICE_INVALID); break;
        case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
        case CU_POINTER_ATTRIBUTE_IS_MANAGED:
        case CU_POINTER_ATTRIBUTE_MAPPED:
        case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS: put(data[i], 0u); break;
        default: put(data[i], 0ull); break;
      }
    }
    return cudaSuccess;
  });
}

// The driver's handles are the runtime's.
CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  return in_context([&] {
    void* opened = nullptr;
    const auto known = __builtin_bit_cast(cudaIpcMemHandle_t, handle);
    const cudaError_t error =
        cudaIpcOpenMemHandle(address == nullptr ? nullptr : &opened, known, flags);
    if (error == cudaSuccess) *address = to_address(opened);
    return error;
  });
}
CUresult virtual_cuIpcOpenMemHandle(CUdeviceptr* address, CUipcMemHandle handle, unsigned flags) {
  return cuIpcOpenMemHandle_v2(address, handle, flags);
}
// Sets how operations on the memory synchronise, the only attribute that can be set.
CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute attribute,
                               CUdeviceptr address) {
  return in_context([&] {
    PointerFacts facts;
    if (value == nullptr || number_of(attribute) != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) {
      return fail(cudaErrorInvalidValue);
    }
    if (const cudaError_t error = facts_of(address, facts)) return error;
    return facts.is_mapped ? cudaSuccess : fail(cudaErrorInvalidValue);
  });
}

CUresult virtual_cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device,
                                    CUstream stream) {
  return in_context([&] {
    return cudaMemPrefetchAsync(to_pointer(address), bytes, location_of(device), 0, stream);
  });
}

CUresult virtual_cuMemAdvise(CUdeviceptr address, size_t bytes, CUmem_advise advice,
                             CUdevice device) {
  return in_context([&] {
    return cudaMemAdvise(to_pointer(address), bytes,
                         static_cast<cudaMemoryAdvise>(number_of(advice)), location_of(device));
  });
}

CUresult cuMemPoolCreate(CUmemoryPool* pool, const CUmemPoolProps* properties) {
  return after_init([&] {
    if (properties == nullptr) return fail(cudaErrorInvalidValue);
    cudaMemPoolProps known{};
    static_assert(sizeof known == sizeof *properties);
    std::memcpy(&known, properties, sizeof known);  // it has the same members
    return cudaMemPoolCreate(pool, &known);
  });
}

CUresult cuMemPoolExportToShareableHandle(void* exported, CUmemoryPool pool,
                                          CUmemAllocationHandleType type,
                                          unsigned long long flags) {
  return after_init([&] {
    if (flags != 0) return fail(cudaErrorInvalidValue);
    return cudaMemPoolExportToShareableHandle(
        exported, pool, static_cast<cudaMemAllocationHandleType>(number_of(type)), 0);
  });
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* pool, void* imported,
                                            CUmemAllocationHandleType type,
                                            unsigned long long flags) {
  return after_init([&] {
    if (flags != 0) return fail(cudaErrorInvalidValue);
    return cudaMemPoolImportFromShareableHandle(
        pool, imported, static_cast<cudaMemAllocationHandleType>(number_of(type)), 0);
  });
}

CUresult cuMemPoolGetAccess(CUmemAccess_flags* flags, CUmemoryPool pool, CUmemLocation* location) {
  return after_init([&] {
    if (location == nullptr || flags == nullptr) return fail(cudaErrorInvalidValue);
    cudaMemLocation known = location_of(*location);
    cudaMemAccessFlags found{};
    const cudaError_t error = cudaMemPoolGetAccess(&found, pool, &known);
    if (error == cudaSuccess) *flags = static_cast<CUmemAccess_flags>(found);
    return error;
  });
}

}  // extern "C"
