// Contexts of the driver API.
#include <cuda.h>

#include "vgpu/cudart/driver/driver_call.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

constexpr unsigned kApiVersion = 3020;  // the version that the driver has returned since CUDA 4

CUresult create(CUcontext* made, unsigned flags, CUdevice device) {
  return of_device(device, [&] {
    constexpr unsigned kFlags = CU_CTX_SCHED_MASK | CU_CTX_MAP_HOST | CU_CTX_LMEM_RESIZE_TO_MAX |
                                CU_CTX_COREDUMP_ENABLE | CU_CTX_USER_COREDUMP_ENABLE |
                                CU_CTX_SYNC_MEMOPS;
    if (made == nullptr || (flags & ~kFlags) != 0) return fail(cudaErrorInvalidValue);
    Context& context = create_context(device, flags);
    push_context(context);
    *made = handle_of(&context);
    return cudaSuccess;
  });
}

// Destroys a context: completes its operations, then frees its memory.
cudaError_t destroy(Context& context) {
  static_cast<void>(cudaDeviceSynchronize());
  with_device([&](Device& device) {
    device.system().report_leaks([&](const warpcheck::vgpu::Allocation& allocation) {
      return context.memory.contains(allocation.address);
    });
  });
  for (const CUdeviceptr address : std::set<CUdeviceptr>(context.memory)) {
    static_cast<void>(cudaFree(to_pointer(address)));
  }
  forget_context(context);
  with_device([](Device& device) { device.errors().forget_sticky(); });
  return cudaSuccess;
}

// Resets the device, like cudaDeviceReset(), unless a context of the program would lose its memory.
cudaError_t reset_primary() { return cudaDeviceReset(); }

}  // namespace

extern "C" {

CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return create(context, flags, device);
}
CUresult virtual_cuCtxCreate(CUcontext* context, unsigned flags, CUdevice device) {
  return create(context, flags, device);
}

CUresult cuCtxCreate_v3(CUcontext* context, CUexecAffinityParam*, int count, unsigned flags,
                        CUdevice device) {
  if (count != 0) {
    return result_of(not_supported("cuCtxCreate with an execution affinity"));
  }
  return create(context, flags, device);
}

CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* parameters, unsigned flags,
                        CUdevice device) {
  if (parameters != nullptr &&
      (parameters->numExecAffinityParams != 0 || parameters->cigParams != nullptr)) {
    return result_of(not_supported("cuCtxCreate with CUctxCreateParams"));
  }
  return create(context, flags, device);
}

CUresult cuCtxDestroy_v2(CUcontext handle) {
  return after_init([&] {
    Context* const context = find_context(handle);
    const bool is_own = context != nullptr && !context->is_primary && !context->is_green();
    if (!is_own) return fail(cudaErrorDeviceUninitialized);
    return destroy(*context);
  });
}
CUresult virtual_cuCtxDestroy(CUcontext handle) { return cuCtxDestroy_v2(handle); }

CUresult cuCtxPushCurrent_v2(CUcontext handle) {
  return after_init([&] {
    Context* const context = find_context(handle);
    if (context == nullptr) return fail(cudaErrorDeviceUninitialized);
    push_context(*context);
    return cudaSetDevice(context->device);
  });
}
CUresult virtual_cuCtxPushCurrent(CUcontext handle) { return cuCtxPushCurrent_v2(handle); }

CUresult cuCtxPopCurrent_v2(CUcontext* handle) {
  return after_init([&] {
    Context* const context = pop_context();
    if (context == nullptr) return fail(cudaErrorDeviceUninitialized);
    if (handle != nullptr) *handle = handle_of(context);
    const Context* const now = current_context();
    return now == nullptr ? cudaSuccess : cudaSetDevice(now->device);
  });
}
CUresult virtual_cuCtxPopCurrent(CUcontext* handle) { return cuCtxPopCurrent_v2(handle); }

CUresult cuCtxSetCurrent(CUcontext handle) {
  return after_init([&] {
    Context* const context = find_context(handle);
    if (handle != nullptr && context == nullptr) return fail(cudaErrorDeviceUninitialized);
    set_current_context(context);
    return context == nullptr ? cudaSuccess : cudaSetDevice(context->device);
  });
}

CUresult cuCtxGetCurrent(CUcontext* handle) {
  return after_init([&] { return write_driver_result(handle, handle_of(current_context())); });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return in_context([&] { return write_driver_result(device, current_context()->device); });
}

CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext handle) {
  return after_init([&] {
    const Context* const context = handle == nullptr ? current_context() : find_context(handle);
    if (context == nullptr) return fail(cudaErrorDeviceUninitialized);
    return write_driver_result(device, context->device);
  });
}

CUresult cuCtxGetFlags(unsigned* flags) {
  return in_context([&] { return write_driver_result(flags, current_context()->flags); });
}

CUresult cuCtxSetFlags(unsigned flags) {
  return in_context([&] {
    current_context()->flags = flags;
    return cudaSuccess;
  });
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return after_init([&] {
    const Context* const context = handle == nullptr ? current_context() : find_context(handle);
    if (context == nullptr) return fail(cudaErrorDeviceUninitialized);
    return write_driver_result(id, context->id);
  });
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  return after_init([&] {
    if (handle != nullptr && find_context(handle) == nullptr) {
      return fail(cudaErrorDeviceUninitialized);
    }
    return write_driver_result(version, kApiVersion);
  });
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
  return after_init([&] {
    const Context* const context = handle == nullptr ? current_context() : find_context(handle);
    return context == nullptr ? fail(cudaErrorDeviceUninitialized) : cudaDeviceSynchronize();
  });
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return in_context([&] {
    cudaFuncCache known{};
    const cudaError_t error = cudaDeviceGetCacheConfig(config == nullptr ? nullptr : &known);
    if (error == cudaSuccess) *config = static_cast<CUfunc_cache>(known);
    return error;
  });
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return in_context(
      [&] { return write_driver_result(config, CU_SHARED_MEM_CONFIG_FOUR_BYTE_BANK_SIZE); });
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig) {
  return in_context([] { return cudaSuccess; });
}

CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  return in_context([&] {
    const Context* const context = find_context(peer);
    if (context == nullptr) return fail(cudaErrorDeviceUninitialized);
    return cudaDeviceEnablePeerAccess(context->device, flags);
  });
}

CUresult cuCtxDisablePeerAccess(CUcontext peer) {
  return in_context([&] {
    const Context* const context = find_context(peer);
    if (context == nullptr) return fail(cudaErrorDeviceUninitialized);
    return cudaDeviceDisablePeerAccess(context->device);
  });
}

CUresult cuCtxAttach(CUcontext* handle, unsigned flags) {
  return in_context([&] {
    if (handle == nullptr || flags != 0) return fail(cudaErrorInvalidValue);
    *handle = handle_of(current_context());
    return cudaSuccess;
  });
}

CUresult cuCtxDetach(CUcontext handle) {
  return after_init([&] {
    return find_context(handle) == nullptr ? fail(cudaErrorDeviceUninitialized) : cudaSuccess;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext* handle, CUdevice device) {
  return of_device(device, [&] {
    if (handle == nullptr) return fail(cudaErrorInvalidValue);
    Context& context = primary_context(device);
    ++context.retained;
    *handle = handle_of(&context);
    return cudaSuccess;
  });
}

// The last release resets the device, unless the runtime uses the context, which never releases it.
CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return of_device(device, [&] {
    Context& context = primary_context(device);
    if (context.retained == 0) return fail(cudaErrorDeviceUninitialized);
    --context.retained;
    return primary_is_active(device) ? cudaSuccess : reset_primary();
  });
}
CUresult virtual_cuDevicePrimaryCtxRelease(CUdevice device) {
  return cuDevicePrimaryCtxRelease_v2(device);
}

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
  return of_device(device, [&] {
    primary_context(device).flags = flags;
    return cudaSuccess;
  });
}
CUresult virtual_cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  return of_device(device, [&] {
    if (flags == nullptr || active == nullptr) return fail(cudaErrorInvalidValue);
    *flags = primary_context(device).flags;
    *active = primary_is_active(device) ? 1 : 0;
    return cudaSuccess;
  });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return of_device(device, [] { return reset_primary(); });
}
CUresult virtual_cuDevicePrimaryCtxReset(CUdevice device) {
  return cuDevicePrimaryCtxReset_v2(device);
}

}  // extern "C"
