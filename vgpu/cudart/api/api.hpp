// The frame of every runtime API function: lock, start the device, answer, remember the error.
#pragma once

#include <cuda_runtime_api.h>

#include <cstring>
#include <mutex>
#include <new>
#include <string_view>

#include "vgpu/cudart/device/device.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::cudart {

// The number that a caller passed as an enumeration of the API; it may be none of its values, and
// then even reading it as one is undefined.
template <typename Enum>
int number_of(const Enum& value) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number = 0;
  std::memcpy(&number, &value, sizeof number);
  return number;
}

// Runs `body(device)` and answers its error.  What the virtual device cannot do becomes
// cudaErrorNotSupported (or cudaErrorInvalidPtx), and its reason a refusal.  Other exceptions are
// defects of this library and pass through.
template <typename Body>
cudaError_t answer_even_after_a_fault(Body&& body) {
  Device& device = Device::instance();
  const std::lock_guard lock(device.mutex());
  if (Device::in_host_function()) return device.refuse_in_host_function();
  device.enter_call();
  try {
    return device.record(body(device));
  } catch (const vgpu::Refusal& refusal) {
    device.refuse(refusal.what());
    return device.record(cudaErrorNotSupported);
  } catch (const ptx::ParseError& error) {
    device.refuse(error.what());
    return device.record(cudaErrorInvalidPtx);
  } catch (const std::bad_alloc&) {
    return device.record(cudaErrorMemoryAllocation);
  }
}

// The same for calls that need a working device: once a launch has died, they answer its error
// until cudaDeviceReset or the next trial.
template <typename Body>
cudaError_t answer(Body&& body) {
  return answer_even_after_a_fault([&](Device& device) {
    if (device.sticky_error() == cudaSuccess) return body(device);
    device.flush_prints();  // what the launch wrote before it died
    return device.sticky_error();
  });
}

// An error that needs no device to be found.
inline cudaError_t fail(cudaError_t error) {
  return answer([&](Device&) { return error; });
}

// Runs `body(device, stream)` if the stream exists.
template <typename Body>
cudaError_t on_stream(std::string_view call, cudaStream_t handle, Body&& body) {
  return answer([&](Device& device) {
    Stream* const stream = device.find_stream(call, handle);
    return stream == nullptr ? cudaErrorInvalidResourceHandle : body(device, *stream);
  });
}

// For an API function that exists and is not implemented: a refusal by name.
inline cudaError_t not_supported(std::string_view call, std::string_view why = {}) {
  return answer_even_after_a_fault([&](Device&) -> cudaError_t {
    std::string reason(call);
    reason += " is not supported by the virtual device";
    if (!why.empty()) reason.append(": ").append(why);
    throw vgpu::Refusal(reason);
  });
}

}  // namespace warpcheck::cudart
