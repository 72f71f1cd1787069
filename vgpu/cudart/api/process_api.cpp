// Memory that processes of one program share: cudaIpc...; events are in stream_api.cpp.
#include <cuda_runtime_api.h>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/memory/process_memory.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

// Only memory of cudaMalloc can be exported.
bool can_be_exported(Device& device, const warpcheck::vgpu::Allocation& allocation) {
  return allocation.name.empty() && !allocation.on_heap() && !allocation.is_shared_with_host() &&
         !allocation.of_pool && !device.allocations().of_graphs().has(allocation) &&
         !device.process_memory().is_opened(allocation);
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

}  // extern "C"
