// The common frame of all driver API functions.  Most of them call the runtime function with the
// same effect, and return the driver's number for its error.
//
// Entry points (driver_entry_points.cpp) have recorded the call, so a failure is reported under the
// name that the program called, and the runtime's last error stays unchanged (Errors::record()).
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <optional>
#include <string_view>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/api/calls/api_call.hpp"
#include "vgpu/cudart/device/current_device.hpp"
#include "vgpu/cudart/driver/contexts.hpp"
#include "vgpu/cudart/driver/driver_errors.hpp"
#include "vgpu/cudart/streams/queues.hpp"

namespace warpcheck::cudart {

inline cudaError_t error_of(CUresult result) { return static_cast<cudaError_t>(result); }
inline CUresult fail(CUresult result) { return result_of(fail(error_of(result))); }

// A call without requirements.  If the function's name says so, a null stream is that of the
// thread.
class DriverCall {
 public:
  DriverCall() {
    const std::string_view name = current_call().name;
    if (name.ends_with("_ptsz") || name.ends_with("_ptds")) per_thread_.emplace();
  }

 private:
  std::optional<PerThreadDefaultStream> per_thread_;
};

// Runs `body()`, which returns a runtime error, if cuInit() was called.
template <typename Body>
CUresult after_init(Body&& body) {
  const DriverCall call;
  if (!driver_is_initialized()) return fail(CUDA_ERROR_NOT_INITIALIZED);
  return result_of(body());
}

// Runs it if the thread has a context.
template <typename Body>
CUresult in_context(Body&& body) {
  const DriverCall call;
  if (!driver_is_initialized()) return fail(CUDA_ERROR_NOT_INITIALIZED);
  const Context* const context = current_context();
  if (context == nullptr) return fail(CUDA_ERROR_INVALID_CONTEXT);
  current_device() = static_cast<unsigned>(context->device);
  return result_of(body());
}

// As write_result(), outside of a call of the runtime.
template <typename Result, typename Value>
cudaError_t write_driver_result(Result* result, const Value& value) {
  return result == nullptr ? fail(cudaErrorInvalidValue) : write_result(result, value);
}

// Runs it after cuInit(), for an existing device.
template <typename Body>
CUresult of_device(CUdevice device, Body&& body) {
  return after_init([&] {
    int count = 0;
    if (const cudaError_t error = cudaGetDeviceCount(&count)) return error;
    return device >= 0 && device < count ? body() : fail(cudaErrorInvalidDevice);
  });
}

inline void* to_pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }
inline CUdeviceptr to_address(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

}  // namespace warpcheck::cudart
