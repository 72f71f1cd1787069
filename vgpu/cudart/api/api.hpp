// The common frame of all runtime API functions: take the lock, start the device, run the body,
// record the error.
#pragma once

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <new>
#include <string_view>

#include "vgpu/cudart/api/calls/api_call.hpp"
#include "vgpu/cudart/device/device.hpp"
#include "vgpu/cudart/device/enum_number.hpp"
#include "vgpu/cudart/device/runtime_use.hpp"
#include "vgpu/cudart/streams/host_functions.hpp"
#include "vgpu/program/refusal.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::cudart {

// Runs `body(device)` and returns its error.  An unsupported operation becomes
// cudaErrorNotSupported (or cudaErrorInvalidPtx) and is recorded as a refusal with its reason.
// Other exceptions are defects of this library and propagate.
template <typename Body>
cudaError_t answer_even_after_a_fault(Device& device, Body&& body) {
  Errors& errors = device.errors();
  if (in_host_function()) return errors.refuse_in_host_function();
  device.enter_call();
  if (!is_driver_call(current_call())) {
    note_runtime_use();
    const cudaError_t unusable = device.system().visible().error;
    if (unusable != cudaSuccess) return errors.record(unusable);
  }
  try {
    return errors.record(body(device));
  } catch (const vgpu::WrongTarget& wrong) {
    return errors.record(errors.because(cudaErrorNoKernelImageForDevice, wrong.what()));
  } catch (const vgpu::Refusal& refusal) {
    errors.refuse(refusal.what());
    return errors.record(cudaErrorNotSupported);
  } catch (const ptx::ParseError& error) {
    errors.refuse(error.what());
    return errors.record(cudaErrorInvalidPtx);
  } catch (const std::bad_alloc&) {
    return errors.record(cudaErrorMemoryAllocation);
  }
}
template <typename Body>
cudaError_t answer_even_after_a_fault(Body&& body) {
  return with_device([&](Device& device) { return answer_even_after_a_fault(device, body); });
}

// Like answer_even_after_a_fault(), for calls that need a working device: after a launch has failed
// fatally, they return its error until cudaDeviceReset or the next trial.
template <typename Body>
cudaError_t answer(Device& device, Body&& body) {
  note_device_use();
  return answer_even_after_a_fault(device, [&](Device& same) {
    const cudaError_t sticky = same.errors().sticky();
    if (sticky == cudaSuccess) return body(same);
    same.flush_prints();  // text that the launch printed before it failed
    return sticky;
  });
}
template <typename Body>
cudaError_t answer(Body&& body) {
  return with_device([&](Device& device) { return answer(device, body); });
}

// Returns an error that can be found without a device.
inline cudaError_t fail(cudaError_t error) {
  return answer([&](Device&) { return error; });
}

// Writes the result of a call to where the caller wants it.
template <typename Result, typename Value>
cudaError_t write_result(Result* result, const Value& value) {
  if (result == nullptr) return cudaErrorInvalidValue;
  *result = value;
  return cudaSuccess;
}

// Runs `body(device, stream)` if the stream exists.
template <typename Body>
cudaError_t on_stream(std::string_view call, cudaStream_t handle, Body&& body) {
  return answer([&](Device& device) {
    Stream* const stream = device.execution().find_stream(call, handle);
    return stream == nullptr ? cudaErrorInvalidResourceHandle : body(device, *stream);
  });
}

// --- failures of many calls, with their reasons for the report ----------------------------------

inline cudaError_t no_such_device(Device& device, int number) {
  return device.errors().because(
      cudaErrorInvalidDevice,
      fmt::format("device {}, and the devices are 0 to {}", number, device.count() - 1));
}

// Returns cudaErrorInvalidValue if there are flags besides the known ones.
inline cudaError_t check_flags(Device& device, unsigned flags, unsigned known) {
  if ((flags & ~known) == 0) return cudaSuccess;
  return device.errors().because(
      cudaErrorInvalidValue,
      fmt::format("flags {:#x}, and the known ones are {:#x}", flags, known));
}

inline cudaError_t not_managed(Device& device) {
  return device.errors().because(cudaErrorInvalidValue,
                                 "the bytes are not inside memory of cudaMallocManaged()");
}

// For an API function that exists but is not implemented: refuses it by name.
inline cudaError_t not_supported(std::string_view call, std::string_view why = {}) {
  return answer_even_after_a_fault([&](Device&) -> cudaError_t {
    std::string reason(call);
    reason += " is not supported by the virtual device";
    if (!why.empty()) reason.append(": ").append(why);
    throw vgpu::Refusal(reason);
  });
}

}  // namespace warpcheck::cudart
