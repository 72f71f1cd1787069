// Memory pools, from which cudaMallocAsync allocates.
//
// The virtual device never runs out of address space, so a pool keeps no memory in reserve.  It
// counts allocations and stores attributes.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/api/calls/call_place.hpp"
#include "vgpu/cudart/memory/pools.hpp"

namespace warpcheck::cudart {

MemoryPool* MemoryPools::find(cudaMemPool_t handle) {
  const auto found =
      std::ranges::find_if(pools_, [&](const auto& pool) { return handle_of(*pool) == handle; });
  return found == pools_.end() || (*found)->destroyed ? nullptr : found->get();
}

MemoryPool* MemoryPools::pool_of(const vgpu::Allocation& allocation) {
  const auto found = std::ranges::find_if(pools_, [&](const auto& pool) {
    return std::ranges::find(pool->allocations, &allocation) != pool->allocations.end();
  });
  return found == pools_.end() ? nullptr : found->get();
}

MemoryPool& MemoryPools::add(unsigned device, PoolMemory memory) {
  MemoryPool& pool = *pools_.emplace_back(std::make_unique<MemoryPool>());
  pool.memory = memory;
  pool.device = device;
  return pool;
}

MemoryPool& MemoryPools::default_pool(unsigned device, PoolMemory memory) {
  MemoryPool*& pool = default_[{memory, device}];
  if (pool == nullptr) pool = &add(device, memory);
  return *pool;
}

MemoryPool& MemoryPools::current(unsigned device, PoolMemory memory) {
  MemoryPool*& pool = current_[{memory, device}];
  if (pool == nullptr) pool = &default_pool(device, memory);
  return *pool;
}

void MemoryPools::forget(unsigned device) {
  for (const auto& pool : pools_) {
    pool->destroyed |= pool->memory == PoolMemory::of_device && pool->device == device;
  }
  default_.erase({PoolMemory::of_device, device});
  current_.erase({PoolMemory::of_device, device});
}

void add_to_pool(MemoryPool& pool, vgpu::Allocation& allocation) {
  allocation.of_pool = true;
  allocation.open_to = pool.open_to;
  pool.allocations.push_back(&allocation);
  static_cast<void>(pool.reserved_bytes());
  pool.used_bytes += allocation.bytes;
  pool.reserved_high = std::max(pool.reserved_high, pool.reserved_bytes());
  allocation.counted_in = &pool.used_bytes;
  pool.used_high = std::max(pool.used_high, pool.used_bytes);
}

cudaError_t allocate_from(Device& device, MemoryPool& pool, Stream& stream, std::string_view call,
                          void** pointer, std::size_t bytes) {
  if (pointer == nullptr || pool.is_imported) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (pool.bytes_max != 0 && pool.used_bytes + bytes > pool.bytes_max) {
    return cudaErrorMemoryAllocation;
  }
  Device owner = device.other(static_cast<int>(pool.device));
  const bool is_of_device = pool.memory == PoolMemory::of_device;
  vgpu::Allocation* const allocation = is_of_device ? owner.allocations().allocate(bytes)
                                                    : owner.allocations().allocate_mapped(bytes);
  if (allocation == nullptr) return cudaErrorMemoryAllocation;
  allocation->managed = !is_of_device;
  allocation->page_locked = pool.memory == PoolMemory::of_host;
  if (!is_of_device) device.host_accesses().allocated(*allocation);
  add_to_pool(pool, *allocation);
  *pointer = reinterpret_cast<void*>(allocation->address);
  if (stream.capture != nullptr) return cudaSuccess;
  ask_for_program();
  return device.execution().submit(stream, AllocateWork{allocation, reported_name(call)}, false);
}

namespace {

template <typename Body>
cudaError_t with_pool(cudaMemPool_t handle, Body&& body) {
  return answer([&](Device& device) {
    MemoryPool* const pool = device.pools().find(handle);
    return pool == nullptr ? cudaErrorInvalidValue : body(device, *pool);
  });
}

bool is_device(const Device& device, const cudaMemLocation& location) {
  return number_of(location.type) == cudaMemLocationTypeDevice && device.exists(location.id);
}

bool is_host(const cudaMemLocation& location) {
  return number_of(location.type) == cudaMemLocationTypeHost ||
         number_of(location.type) == cudaMemLocationTypeHostNuma;
}

// Sets the memory of pools of a location.  All of the host is one node.
cudaError_t find_memory(Device& device, const cudaMemLocation& location, cudaMemAllocationType type,
                        PoolMemory& memory) {
  const bool is_anywhere = number_of(location.type) == cudaMemLocationTypeNone;
  if (number_of(location.type) == cudaMemLocationTypeDevice && !device.exists(location.id)) {
    return no_such_device(device, location.id);
  }
  const bool is_place = is_host(location) || is_device(device, location);
  switch (number_of(type)) {
    case cudaMemAllocationTypePinned:
      memory = is_host(location) ? PoolMemory::of_host : PoolMemory::of_device;
      return is_place ? cudaSuccess : cudaErrorInvalidValue;
    case cudaMemAllocationTypeManaged:
      memory = PoolMemory::managed;
      return is_place || is_anywhere ? cudaSuccess : cudaErrorInvalidValue;
    default: return cudaErrorInvalidValue;
  }
}

unsigned number_of_pools(const cudaMemLocation& location, PoolMemory memory) {
  return memory == PoolMemory::of_device ? static_cast<unsigned>(location.id) : 0;
}

// Runs `body(device, number, memory)` for the pools of a location.
template <typename Body>
cudaError_t on_pools_of(const cudaMemLocation* location, cudaMemAllocationType type, Body&& body) {
  return answer([&](Device& device) {
    if (location == nullptr) return cudaErrorInvalidValue;
    PoolMemory memory{};
    const cudaError_t error = find_memory(device, *location, type, memory);
    return error == cudaSuccess ? body(device, number_of_pools(*location, memory), memory) : error;
  });
}

int* switch_of(MemoryPool& pool, int attribute) {
  switch (attribute) {
    case cudaMemPoolReuseFollowEventDependencies: return &pool.reuse[0];
    case cudaMemPoolReuseAllowOpportunistic: return &pool.reuse[1];
    case cudaMemPoolReuseAllowInternalDependencies: return &pool.reuse[2];
    default: return nullptr;
  }
}

}  // namespace
}  // namespace warpcheck::cudart

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)
namespace vgpu = warpcheck::vgpu;

extern "C" {

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t handle,
                                    cudaStream_t stream) {
  constexpr std::string_view kCall = "cudaMallocFromPoolAsync";
  return on_stream(kCall, stream, [&](Device& device, Stream& found) {
    MemoryPool* const pool = device.pools().find(handle);
    if (pool == nullptr) return cudaErrorInvalidValue;
    return allocate_from(device, *pool, found, kCall, pointer, bytes);
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* handle, int number) {
  return answer([&](Device& device) {
    if (handle == nullptr) return cudaErrorInvalidValue;
    if (!device.exists(number)) return cudaErrorInvalidDevice;
    *handle = MemoryPools::handle_of(device.pools().default_pool(static_cast<unsigned>(number)));
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* handle, int number) {
  return answer([&](Device& device) {
    if (handle == nullptr) return cudaErrorInvalidValue;
    if (!device.exists(number)) return cudaErrorInvalidDevice;
    *handle = MemoryPools::handle_of(device.pools().current(static_cast<unsigned>(number)));
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetMemPool(int number, cudaMemPool_t handle) {
  return with_pool(handle, [&](Device& device, MemoryPool& pool) {
    if (!device.exists(number)) return cudaErrorInvalidDevice;
    const bool is_its_own =
        pool.memory == PoolMemory::of_device && pool.device == static_cast<unsigned>(number);
    if (!is_its_own || pool.is_imported) return cudaErrorInvalidValue;
    device.pools().set_current(pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* handle, cudaMemLocation* location,
                                     cudaMemAllocationType type) {
  return on_pools_of(location, type, [&](Device& device, unsigned number, PoolMemory memory) {
    return write_result(handle,
                        MemoryPools::handle_of(device.pools().default_pool(number, memory)));
  });
}

cudaError_t cudaMemGetMemPool(cudaMemPool_t* handle, cudaMemLocation* location,
                              cudaMemAllocationType type) {
  return on_pools_of(location, type, [&](Device& device, unsigned number, PoolMemory memory) {
    return write_result(handle, MemoryPools::handle_of(device.pools().current(number, memory)));
  });
}

cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type,
                              cudaMemPool_t handle) {
  return on_pools_of(location, type, [&](Device& device, unsigned number, PoolMemory memory) {
    MemoryPool* const pool = device.pools().find(handle);
    const bool fits =
        pool != nullptr && pool->memory == memory && pool->device == number && !pool->is_imported;
    if (!fits) return cudaErrorInvalidValue;
    device.pools().set_current(*pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* handle, const cudaMemPoolProps* properties) {
  return answer([&](Device& device) {
    if (handle == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    PoolMemory memory{};
    const cudaError_t error =
        find_memory(device, properties->location, properties->allocType, memory);
    if (error != cudaSuccess) return error;
    // As the device's attributes say: a file descriptor, and no other handle.
    const int handles = number_of(properties->handleTypes);
    if (handles != cudaMemHandleTypeNone) {
      if (memory != PoolMemory::of_device) return cudaErrorInvalidValue;
      if (handles != cudaMemHandleTypePosixFileDescriptor) return cudaErrorNotSupported;
    }
    MemoryPool& pool = device.pools().add(number_of_pools(properties->location, memory), memory);
    pool.bytes_max = properties->maxSize;
    pool.can_be_shared = handles != cudaMemHandleTypeNone;
    *handle = MemoryPools::handle_of(pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  return with_pool(handle, [](Device& device, MemoryPool& pool) {
    MemoryPool& normal = device.pools().default_pool(pool.device, pool.memory);
    if (&pool == &normal) return cudaErrorInvalidValue;
    pool.destroyed = true;
    if (&pool == &device.pools().current(pool.device, pool.memory)) {
      device.pools().set_current(normal);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return with_pool(handle, [&](Device&, MemoryPool& pool) {
    const int number = number_of(attribute);
    if (value == nullptr) return cudaErrorInvalidValue;
    if (const int* const found = switch_of(pool, number)) {
      std::memcpy(value, found, sizeof *found);
      return cudaSuccess;
    }
    std::uint64_t bytes = 0;
    switch (number) {
      case cudaMemPoolAttrReleaseThreshold: bytes = pool.release_threshold; break;
      case cudaMemPoolAttrReservedMemCurrent: bytes = pool.reserved_bytes(); break;
      case cudaMemPoolAttrReservedMemHigh: bytes = pool.reserved_high; break;
      case cudaMemPoolAttrUsedMemCurrent: bytes = pool.used_bytes; break;
      case cudaMemPoolAttrUsedMemHigh: bytes = pool.used_high; break;
      default: return cudaErrorInvalidValue;
    }
    std::memcpy(value, &bytes, sizeof bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t handle, cudaMemPoolAttr attribute, void* value) {
  return with_pool(handle, [&](Device&, MemoryPool& pool) {
    const int number = number_of(attribute);
    if (value == nullptr) return cudaErrorInvalidValue;
    if (int* const found = switch_of(pool, number)) {
      std::memcpy(found, value, sizeof *found);
      return cudaSuccess;
    }
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, value, sizeof bytes);
    switch (number) {
      case cudaMemPoolAttrReleaseThreshold:
        static_cast<void>(pool.reserved_bytes());
        pool.release_threshold = bytes;
        return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh:
        if (bytes != 0) return cudaErrorInvalidValue;
        pool.reserved_high = pool.reserved_bytes();
        return cudaSuccess;
      case cudaMemPoolAttrUsedMemHigh:
        if (bytes != 0) return cudaErrorInvalidValue;
        pool.used_high = pool.used_bytes;
        return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t bytes) {
  return with_pool(handle, [&](Device&, MemoryPool& pool) {
    static_cast<void>(pool.keep(bytes));
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* list,
                                 size_t count) {
  return with_pool(handle, [&](Device& device, MemoryPool& pool) {
    if (list == nullptr && count != 0) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_device(device, list[i].location)) return cudaErrorInvalidDevice;
      const bool is_open = number_of(list[i].flags) == cudaMemAccessFlagsProtReadWrite;
      const bool is_closed = number_of(list[i].flags) == cudaMemAccessFlagsProtNone;
      // A device can always access its own memory; read-only access to other memory is not
      // possible.
      const bool is_own = pool.memory == PoolMemory::of_device &&
                          static_cast<unsigned>(list[i].location.id) == pool.device;
      if (!is_open && (is_own || !is_closed)) return cudaErrorInvalidValue;
      const unsigned bit = 1u << list[i].location.id;
      pool.open_to = static_cast<std::uint16_t>(is_open ? pool.open_to | bit : pool.open_to & ~bit);
    }
    for (vgpu::Allocation* const one : pool.allocations) one->open_to = pool.open_to;
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle,
                                 cudaMemLocation* location) {
  return with_pool(handle, [&](Device& device, MemoryPool& pool) {
    if (flags == nullptr || location == nullptr) return cudaErrorInvalidValue;
    const bool is_of_host = is_host(*location) && pool.memory != PoolMemory::of_device;
    if (!is_of_host && !is_device(device, *location)) return cudaErrorInvalidDevice;
    const auto user = static_cast<unsigned>(location->id);
    const bool is_own = pool.memory == PoolMemory::managed || is_of_host ||
                        (pool.memory == PoolMemory::of_device && user == pool.device);
    const bool is_open = is_own || (pool.open_to >> user & 1) != 0;
    *flags = is_open ? cudaMemAccessFlagsProtReadWrite : cudaMemAccessFlagsProtNone;
    return cudaSuccess;
  });
}

}  // extern "C"
