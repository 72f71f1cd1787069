// Memory that processes of one program share: cudaIpc..., and pools.  Events are in stream_api.cpp,
// cuMemCreate's memory in virtual_memory_driver_api.cpp.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <utility>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/memory/pools.hpp"
#include "vgpu/cudart/memory/process_memory.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

// Only memory of cudaMalloc can be exported.
bool can_be_exported(Device& device, const warpcheck::vgpu::Allocation& allocation) {
  return allocation.name.empty() && !allocation.on_heap() && !allocation.is_shared_with_host() &&
         !allocation.of_pool && !allocation.of_virtual &&
         !device.allocations().of_graphs().has(allocation) &&
         !device.process_memory().is_opened(allocation);
}

constexpr auto kPool = ProcessFileHandle::What::pool;
constexpr std::size_t kPoolBytes = 4096;  // nothing is in it: only its identity counts

// The content of a cudaMemPoolPtrExportData.
struct PoolPointer {
  ProcessFileHandle memory, pool;
};

bool is_descriptor(cudaMemAllocationHandleType type) {
  return number_of(type) == cudaMemHandleTypePosixFileDescriptor;
}

}  // namespace

extern "C" {

// The program sends the handle to the other process by means that do not wait for the device, so
// earlier operations are completed here.
cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  return answer([&](Device& device) {
    require_exec("cudaIpcGetMemHandle");
    if (handle == nullptr) return cudaErrorInvalidValue;
    warpcheck::vgpu::Allocation* const found = device.allocations().find(pointer);
    if (found == nullptr || !can_be_exported(device, *found)) return cudaErrorInvalidValue;
    device.execution().run_all_for_nobody();
    return device.process_memory().get_handle(device.allocations(), *found, *handle);
  });
}

cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned flags) {
  return answer([&](Device& device) {
    require_exec("cudaIpcOpenMemHandle");
    if (pointer == nullptr || flags != cudaIpcMemLazyEnablePeerAccess) return cudaErrorInvalidValue;
    return device.process_memory().open(device.allocations(), handle, pointer);
  });
}

// Waits for the device, like cudaFree.
cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return answer([&](Device& device) {
    require_exec("cudaIpcCloseMemHandle");
    device.wait();
    const warpcheck::vgpu::Allocation* unused = nullptr;
    const cudaError_t error = device.process_memory().close(pointer, unused);
    if (unused != nullptr) device.allocations().free(*device.allocations().find(pointer));
    return error;
  });
}

// ---- pools ----

cudaError_t cudaMemPoolExportToShareableHandle(void* exported, cudaMemPool_t handle,
                                               cudaMemAllocationHandleType type, unsigned flags) {
  return answer([&](Device& device) {
    require_exec("cudaMemPoolExportToShareableHandle");
    MemoryPool* const pool = device.pools().find(handle);
    const bool can_be = pool != nullptr && pool->can_be_shared && !pool->is_imported;
    if (exported == nullptr || flags != 0 || !is_descriptor(type) || !can_be) {
      return cudaErrorInvalidValue;
    }
    if (pool->file == nullptr) pool->file = ProcessFile::make(kPool, pool->device, kPoolBytes);
    const int descriptor = pool->file == nullptr ? -1 : pool->file->descriptor();
    if (descriptor < 0) return cudaErrorOperatingSystem;
    std::memcpy(exported, &descriptor, sizeof descriptor);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolImportFromShareableHandle(cudaMemPool_t* handle, void* imported,
                                                 cudaMemAllocationHandleType type, unsigned flags) {
  return answer([&](Device& device) {
    require_exec("cudaMemPoolImportFromShareableHandle");
    if (handle == nullptr || flags != 0 || !is_descriptor(type)) return cudaErrorInvalidValue;
    const auto known =
        ProcessFile::handle_of(static_cast<int>(reinterpret_cast<std::intptr_t>(imported)));
    if (!known || known->what != kPool) return cudaErrorInvalidValue;
    const auto number = static_cast<int>(known->bytes);
    auto file = ProcessFile::open(*known, kPoolBytes);
    if (file == nullptr || !device.exists(number)) return cudaErrorInvalidValue;
    MemoryPool& pool = device.pools().add(static_cast<unsigned>(number));
    pool.is_imported = true;
    pool.file = std::move(file);
    *handle = MemoryPools::handle_of(pool);
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolExportPointer(cudaMemPoolPtrExportData* exported, void* pointer) {
  return answer([&](Device& device) {
    require_exec("cudaMemPoolExportPointer");
    warpcheck::vgpu::Allocation* const found = device.allocations().find(pointer);
    if (exported == nullptr || found == nullptr || !found->of_pool) return cudaErrorInvalidValue;
    const MemoryPool* const pool = device.pools().pool_of(*found);
    if (pool == nullptr || pool->is_imported || pool->file == nullptr) return cudaErrorInvalidValue;
    device.execution().run_all_for_nobody();
    const auto file =
        device.process_memory().file_of(device.allocations(), *found, "cudaMemPoolImportPointer");
    if (file == nullptr) return cudaErrorMemoryAllocation;
    *exported =
        to_handle<cudaMemPoolPtrExportData>(PoolPointer{file->handle(), pool->file->handle()});
    return cudaSuccess;
  });
}

cudaError_t cudaMemPoolImportPointer(void** pointer, cudaMemPool_t handle,
                                     cudaMemPoolPtrExportData* exported) {
  return answer([&](Device& device) {
    require_exec("cudaMemPoolImportPointer");
    MemoryPool* const pool = device.pools().find(handle);
    if (pointer == nullptr || exported == nullptr || pool == nullptr || !pool->is_imported) {
      return cudaErrorInvalidValue;
    }
    const auto known = in_handle<PoolPointer>(*exported);
    const bool is_of_it = known.pool == pool->file->handle();
    const auto file = is_of_it ? ProcessMemory::open_file(known.memory) : nullptr;
    if (file == nullptr) return cudaErrorInvalidValue;
    if (known.memory.process == ::getpid()) {
      throw warpcheck::vgpu::Refusal(
          "cudaMemPoolImportPointer in the process that has exported it");
    }
    Device owner = device.other(static_cast<int>(pool->device));
    warpcheck::vgpu::Allocation* const made = owner.allocations().allocate(known.memory.bytes);
    if (made == nullptr) return cudaErrorMemoryAllocation;
    add_to_pool(*pool, *made);
    device.process_memory().share(owner.allocations(), *made, file, "cudaMemPoolImportPointer");
    *pointer = reinterpret_cast<void*>(made->address);
    return cudaSuccess;
  });
}

}  // extern "C"
