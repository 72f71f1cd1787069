// Streams and events.
//
// Work is done when it is asked for, so a stream is always idle and a recorded event has always
// happened.  The time between two events is virtual: cycles of work done, a fixed function of the
// instructions and bytes, the same on every machine.
#include <cuda_runtime_api.h>

#include "vgpu/cudart/api.hpp"
#include "vgpu/cudart/virtual_gpu.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

constexpr int kLowestPriority = 0, kHighestPriority = -5;

// Runs `body(device, stream)` if the stream exists.
template <typename Body>
cudaError_t with_stream(cudaStream_t handle, Body&& body) {
  return answer([&](Device& device) {
    const Stream* const stream = device.queues().find(handle);
    return stream == nullptr ? cudaErrorInvalidResourceHandle : body(device, *stream);
  });
}

template <typename Body>
cudaError_t with_event(cudaEvent_t handle, Body&& body) {
  return answer([&](Device& device) {
    Event* const event = device.queues().find(handle);
    return event == nullptr ? cudaErrorInvalidResourceHandle : body(device, *event);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return answer([&](Device& device) {
    if (stream == nullptr || (flags & ~unsigned{cudaStreamNonBlocking}) != 0) {
      return cudaErrorInvalidValue;
    }
    const int clamped = std::min(std::max(priority, kHighestPriority), kLowestPriority);
    *stream = device.queues().create_stream(flags, clamped);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return answer([&](Device& device) {
    return device.queues().destroy_stream(stream) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return with_stream(stream, [](Device& device, const Stream&) {
    device.flush_prints();
    return cudaSuccess;
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return with_stream(stream, [](Device&, const Stream&) { return cudaSuccess; });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return with_stream(stream, [&](Device& device, const Stream&) {
    if (device.queues().find(event) == nullptr) return cudaErrorInvalidResourceHandle;
    if (flags != cudaEventWaitDefault && flags != cudaEventWaitExternal) {
      return cudaErrorInvalidValue;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return with_stream(stream, [&](Device&, const Stream& found) {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = found.flags;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return with_stream(stream, [&](Device&, const Stream& found) {
    if (priority == nullptr) return cudaErrorInvalidValue;
    *priority = found.priority;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return with_stream(stream, [&](Device&, const Stream& found) {
    if (id == nullptr) return cudaErrorInvalidValue;
    *id = found.id;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device_number) {
  return with_stream(stream, [&](Device&, const Stream&) {
    if (device_number == nullptr) return cudaErrorInvalidValue;
    *device_number = 0;
    return cudaSuccess;
  });
}

// Nothing is ever being captured: cudaStreamBeginCapture is not supported.
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return with_stream(stream, [&](Device&, const Stream&) {
    if (status == nullptr) return cudaErrorInvalidValue;
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest) {
  return answer([&](Device&) {
    if (lowest != nullptr) *lowest = kLowestPriority;
    if (highest != nullptr) *highest = kHighestPriority;
    return cudaSuccess;
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument) {
  const cudaError_t error = with_stream(stream, [&](Device&, const Stream&) {
    return function == nullptr ? cudaErrorInvalidValue : cudaSuccess;
  });
  if (error == cudaSuccess) function(argument);  // not under the lock: it may call the API
  return error;
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* argument, unsigned flags) {
  const cudaError_t error = with_stream(stream, [&](Device&, const Stream&) {
    return callback == nullptr || flags != 0 ? cudaErrorInvalidValue : cudaSuccess;
  });
  if (error == cudaSuccess) callback(stream, cudaSuccess, argument);
  return error;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return answer([&](Device& device) {
    constexpr unsigned kFlags = cudaEventBlockingSync | cudaEventDisableTiming;
    if (event == nullptr || (flags & ~(kFlags | cudaEventInterprocess)) != 0) {
      return cudaErrorInvalidValue;
    }
    if ((flags & cudaEventInterprocess) != 0) {
      throw warpcheck::vgpu::Refusal(
          "cudaEventCreateWithFlags: cudaEventInterprocess is not "
          "supported");
    }
    *event = device.queues().create_event(flags);
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return answer([&](Device& device) {
    return device.queues().destroy_event(event) ? cudaSuccess : cudaErrorInvalidResourceHandle;
  });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags) {
  return with_event(event, [&](Device& device, Event& found) {
    if (device.queues().find(stream) == nullptr) return cudaErrorInvalidResourceHandle;
    if (flags != cudaEventRecordDefault) return cudaErrorInvalidValue;
    found.recorded = true;
    found.cycles = device.clock();
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return with_event(event, [](Device&, Event&) { return cudaSuccess; });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return with_event(event, [](Device& device, Event&) {
    device.flush_prints();
    return cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return answer([&](Device& device) {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    const Event* const first = device.queues().find(start);
    const Event* const last = device.queues().find(end);
    if (first == nullptr || last == nullptr || !first->has_time() || !last->has_time()) {
      return cudaErrorInvalidResourceHandle;
    }
    const auto cycles = static_cast<std::int64_t>(last->cycles - first->cycles);
    *milliseconds = static_cast<float>(static_cast<double>(cycles) * 1000.0 /
                                       static_cast<double>(virtual_gpu::kClockHz));
    return cudaSuccess;
  });
}

}  // extern "C"
