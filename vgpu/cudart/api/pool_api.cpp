// Memory pools: where cudaMallocAsync takes memory from.
//
// The virtual device never runs out of address space, so a pool keeps nothing in reserve: it is
// where allocations are counted, and what attributes are told of.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/memory/pools.hpp"

namespace warpcheck::cudart {

std::uint64_t MemoryPool::used_bytes() const {
  std::uint64_t bytes = 0;
  for (const vgpu::Allocation* const allocation : allocations) {
    if (allocation->live) bytes += allocation->bytes;
  }
  return bytes;
}

MemoryPool* MemoryPools::find(cudaMemPool_t handle) {
  const auto found =
      std::ranges::find_if(pools_, [&](const auto& pool) { return handle_of(*pool) == handle; });
  return found == pools_.end() || (*found)->destroyed ? nullptr : found->get();
}

MemoryPool& MemoryPools::add() { return *pools_.emplace_back(std::make_unique<MemoryPool>()); }

MemoryPool& MemoryPools::default_pool() {
  if (pools_.empty()) current_ = &add();
  return *pools_.front();
}

MemoryPool& MemoryPools::current() {
  default_pool();
  return *current_;
}

cudaError_t allocate_from(Allocations& allocations, MemoryPool& pool, void** pointer,
                          std::size_t bytes) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (pool.bytes_max != 0 && pool.used_bytes() + bytes > pool.bytes_max) {
    return cudaErrorMemoryAllocation;
  }
  const vgpu::Allocation* const allocation = allocations.allocate(bytes);
  if (allocation == nullptr) return cudaErrorMemoryAllocation;
  pool.allocations.push_back(allocation);
  pool.used_high = std::max(pool.used_high, pool.used_bytes());
  *pointer = reinterpret_cast<void*>(allocation->address);
  return cudaSuccess;
}

namespace {

template <typename Body>
cudaError_t with_pool(cudaMemPool_t handle, Body&& body) {
  return answer([&](Device& device) {
    MemoryPool* const pool = device.pools().find(handle);
    return pool == nullptr ? cudaErrorInvalidValue : body(device, *pool);
  });
}

bool is_this_device(const cudaMemLocation& location) {
  return number_of(location.type) == cudaMemLocationTypeDevice && location.id == 0;
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

extern "C" {

cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t handle,
                                    cudaStream_t stream) {
  return on_stream("cudaMallocFromPoolAsync", stream, [&](Device& device, Stream&) {
    MemoryPool* const pool = device.pools().find(handle);
    if (pool == nullptr) return cudaErrorInvalidValue;
    return allocate_from(device.allocations(), *pool, pointer, bytes);
  });
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* handle, int number) {
  return answer([&](Device& device) {
    if (handle == nullptr) return cudaErrorInvalidValue;
    if (number != 0) return cudaErrorInvalidDevice;
    *handle = MemoryPools::handle_of(device.pools().default_pool());
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* handle, int number) {
  return answer([&](Device& device) {
    if (handle == nullptr) return cudaErrorInvalidValue;
    if (number != 0) return cudaErrorInvalidDevice;
    *handle = MemoryPools::handle_of(device.pools().current());
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceSetMemPool(int number, cudaMemPool_t handle) {
  return with_pool(handle, [&](Device& device, MemoryPool& pool) {
    if (number != 0) return cudaErrorInvalidDevice;
    device.pools().set_current(pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* handle, const cudaMemPoolProps* properties) {
  return answer([&](Device& device) {
    if (handle == nullptr || properties == nullptr ||
        number_of(properties->allocType) != cudaMemAllocationTypePinned) {
      return cudaErrorInvalidValue;
    }
    if (number_of(properties->handleTypes) != cudaMemHandleTypeNone) {
      throw warpcheck::vgpu::Refusal("cudaMemPoolCreate: pools of several processes");
    }
    if (!is_this_device(properties->location)) return cudaErrorInvalidDevice;
    device.pools().default_pool();
    MemoryPool& pool = device.pools().add();
    pool.bytes_max = properties->maxSize;
    *handle = MemoryPools::handle_of(pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t handle) {
  return with_pool(handle, [](Device& device, MemoryPool& pool) {
    if (&pool == &device.pools().default_pool()) return cudaErrorInvalidValue;
    pool.destroyed = true;
    if (&pool == &device.pools().current()) {
      device.pools().set_current(device.pools().default_pool());
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
      case cudaMemPoolAttrReservedMemCurrent:
      case cudaMemPoolAttrUsedMemCurrent: bytes = pool.used_bytes(); break;
      case cudaMemPoolAttrReservedMemHigh:
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
      case cudaMemPoolAttrReleaseThreshold: pool.release_threshold = bytes; return cudaSuccess;
      case cudaMemPoolAttrReservedMemHigh:
      case cudaMemPoolAttrUsedMemHigh:
        if (bytes != 0) return cudaErrorInvalidValue;
        pool.used_high = pool.used_bytes();
        return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaMemPoolTrimTo(cudaMemPool_t handle, size_t) {
  return with_pool(handle, [](Device&, MemoryPool&) { return cudaSuccess; });
}

cudaError_t cudaMemPoolSetAccess(cudaMemPool_t handle, const cudaMemAccessDesc* list,
                                 size_t count) {
  return with_pool(handle, [&](Device&, MemoryPool&) {
    if (list == nullptr && count != 0) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
      if (!is_this_device(list[i].location)) return cudaErrorInvalidDevice;
      // A device always reaches its own memory.
      if (number_of(list[i].flags) != cudaMemAccessFlagsProtReadWrite) {
        return cudaErrorInvalidValue;
      }
    }
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* flags, cudaMemPool_t handle,
                                 cudaMemLocation* location) {
  return with_pool(handle, [&](Device&, MemoryPool&) {
    if (flags == nullptr || location == nullptr) return cudaErrorInvalidValue;
    if (!is_this_device(*location)) return cudaErrorInvalidDevice;
    *flags = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
  });
}

}  // extern "C"
