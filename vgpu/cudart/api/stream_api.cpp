// Streams and events.
//
// The time between two events is virtual: cycles of executed work, a fixed function of the
// instructions and bytes, the same on every machine.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <vector>

#include "vgpu/check/streams.hpp"
#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/graphs/graphs.hpp"
#include "vgpu/cudart/memory/access_policy.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

constexpr int kLowestPriority = 0, kHighestPriority = -5;

template <typename Body>
cudaError_t with_event(std::string_view call, cudaEvent_t handle, Body&& body) {
  return answer([&](Device& device) {
    Event* const event = device.execution().find_event(call, handle);
    return event == nullptr ? cudaErrorInvalidResourceHandle : body(device, *event);
  });
}

// Empty: the event has one.
std::string why_without_time(std::string_view which, const Event& event) {
  if (event.has_time()) return {};
  if (event.record == nullptr) return fmt::format("the {} event was never recorded", which);
  return fmt::format("the {} event was made with cudaEventDisableTiming", which);
}

// A stream that waits for captured work of another stream becomes part of the capture.
cudaError_t join_capture(Stream& stream, const Event& event) {
  if (stream.capture != nullptr && stream.capture != event.capture) {
    return cudaErrorStreamCaptureMerge;
  }
  if (event.capture->origin->capture != event.capture) return cudaErrorStreamCaptureUnmatched;
  stream.capture = event.capture;
  for (Node* const node : event.captured_after) {
    if (std::ranges::find(stream.captured_after, node) == stream.captured_after.end()) {
      stream.captured_after.push_back(node);
    }
  }
  return cudaSuccess;
}

void refuse_in_capture(const Event& event) {
  if (event.of_processes == nullptr) return;
  throw warpcheck::vgpu::Refusal("an event with cudaEventInterprocess in a captured stream");
}

void add_event_node(Stream& stream, cudaGraphNodeType type, cudaEvent_t event) {
  Node& node = stream.capture->graph->add(type, stream.captured_after);
  node.event = event;
  stream.captured_after = {&node};
}

// Polling must end: each query lets the device run one operation.
cudaError_t query(Device& device, const std::vector<OperationPtr>& operations) {
  const auto all_done = [&] {
    return std::ranges::all_of(operations, [](const auto& one) { return one->is_done(); });
  };
  if (!all_done()) device.execution().make_progress();
  if (device.errors().sticky() != cudaSuccess) return device.errors().sticky();
  if (!all_done()) return cudaErrorNotReady;
  for (const OperationPtr& operation : operations) device.execution().host_knows(*operation);
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  return answer([&](Device& device) {
    if (stream == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_flags(device, flags, cudaStreamNonBlocking)) return error;
    const int clamped = std::min(std::max(priority, kHighestPriority), kLowestPriority);
    *stream = device.execution().queues().create_stream(flags, clamped);
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithPriority(stream, cudaStreamDefault, 0);
}

// Operations requested in the stream still run.
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  return answer([&](Device& device) {
    Stream* const stream = device.execution().queues().find(handle);
    const bool is_made = handle != nullptr && handle != cudaStreamLegacy &&
                         handle != cudaStreamPerThread && stream != nullptr;
    if (is_made && stream->destroyed) {
      device.findings().add(
          warpcheck::vgpu::destroyed_twice(reported_name("cudaStreamDestroy"), "stream"));
    }
    if (!is_made || stream->destroyed) return cudaErrorInvalidResourceHandle;
    stream->destroyed = true;
    return cudaSuccess;
  });
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return on_stream("cudaStreamSynchronize", stream, [](Device& device, Stream& found) {
    if (found.capture != nullptr) return spoil_capture(found);
    device.execution().wait_for(found);
    return device.errors().sticky();
  });
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return on_stream("cudaStreamQuery", stream, [](Device& device, Stream& found) {
    if (found.capture != nullptr) return spoil_capture(found);
    return query(device, Queues::latest(found));
  });
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t handle, unsigned flags) {
  return on_stream("cudaStreamWaitEvent", stream, [&](Device& device, Stream& found) {
    const Event* const event = device.execution().find_event("cudaStreamWaitEvent", handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (const cudaError_t error = check_flags(device, flags, cudaEventWaitExternal)) return error;
    if (event->capture != nullptr) return join_capture(found, *event);
    if (found.capture != nullptr) {
      refuse_in_capture(*event);
      if (flags != cudaEventWaitExternal) return cudaErrorStreamCaptureIsolation;
      add_event_node(found, cudaGraphNodeTypeWaitEvent, handle);
    } else if (event->is_others()) {
      const ProcessEventWork wait{event->of_processes, event->of_processes->latest(), true};
      return device.execution().submit(found, wait, false);
    } else if (event->record != nullptr) {
      found.waits.push_back(event->record);
    }
    return cudaSuccess;
  });
}

cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned* flags) {
  return on_stream("cudaStreamGetFlags", stream,
                   [&](Device&, const Stream& found) { return write_result(flags, found.flags); });
}

cudaError_t cudaStreamGetPriority(cudaStream_t stream, int* priority) {
  return on_stream("cudaStreamGetPriority", stream, [&](Device&, const Stream& found) {
    return write_result(priority, found.priority);
  });
}

cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long* id) {
  return on_stream("cudaStreamGetId", stream,
                   [&](Device&, const Stream& found) { return write_result(id, found.id); });
}

cudaError_t cudaStreamGetDevice(cudaStream_t stream, int* device_number) {
  return on_stream("cudaStreamGetDevice", stream, [&](Device&, const Stream& found) {
    return write_result(device_number, static_cast<int>(found.device));
  });
}

// Attributes are hints, and are only stored for programs that query them.
cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   const cudaStreamAttrValue* value) {
  return on_stream("cudaStreamSetAttribute", stream, [&](Device&, Stream& found) {
    if (value == nullptr) return cudaErrorInvalidValue;
    switch (number_of(attribute)) {
      case cudaLaunchAttributeAccessPolicyWindow:
        if (!is_window(value->accessPolicyWindow)) return cudaErrorInvalidValue;
        [[fallthrough]];
      case cudaLaunchAttributeSynchronizationPolicy:
      case cudaLaunchAttributePriority:
      case cudaLaunchAttributeMemSyncDomainMap:
      case cudaLaunchAttributeMemSyncDomain:
        found.attributes[number_of(attribute)] = *value;
        return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaStreamAttrID attribute,
                                   cudaStreamAttrValue* value) {
  return on_stream("cudaStreamGetAttribute", stream, [&](Device&, Stream& found) {
    if (value == nullptr) return cudaErrorInvalidValue;
    const auto set = found.attributes.find(number_of(attribute));
    *value = {};
    if (set != found.attributes.end()) {
      *value = set->second;
    } else if (number_of(attribute) == cudaLaunchAttributePriority) {
      value->priority = found.priority;
    } else if (number_of(attribute) == cudaLaunchAttributeSynchronizationPolicy) {
      value->syncPolicy = cudaSyncPolicyAuto;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaStreamCopyAttributes(cudaStream_t target, cudaStream_t source) {
  return on_stream("cudaStreamCopyAttributes", target, [&](Device& device, Stream& found) {
    const Stream* const other = device.execution().find_stream("cudaStreamCopyAttributes", source);
    if (other == nullptr) return cudaErrorInvalidResourceHandle;
    found.attributes = other->attributes;
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
  return on_stream("cudaLaunchHostFunc", stream, [&](Device& device, Stream& found) {
    if (function == nullptr) return cudaErrorInvalidValue;
    HostWork work;
    work.function = function;
    work.argument = argument;
    return device.execution().submit(found, work, false);
  });
}

cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                  void* argument, unsigned flags) {
  return on_stream("cudaStreamAddCallback", stream, [&](Device& device, Stream& found) {
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    HostWork work;
    work.callback = callback;
    work.stream = stream;
    work.argument = argument;
    return device.execution().submit(found, work, false);
  });
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  return answer([&](Device& device) {
    constexpr unsigned kFlags = cudaEventBlockingSync | cudaEventDisableTiming;
    if (event == nullptr) return cudaErrorInvalidValue;
    if (const cudaError_t error = check_flags(device, flags, kFlags | cudaEventInterprocess)) {
      return error;
    }
    std::shared_ptr<ProcessEvent> of_processes;
    if ((flags & cudaEventInterprocess) != 0) {
      if ((flags & cudaEventDisableTiming) == 0) return cudaErrorInvalidValue;
      require_exec("cudaEventCreateWithFlags, cudaEventInterprocess");
      of_processes = ProcessEvent::make();
      if (of_processes == nullptr) return cudaErrorMemoryAllocation;
    }
    Queues& queues = device.execution().queues();
    *event = queues.create_event(flags);
    queues.find(*event)->of_processes = of_processes;
    return cudaSuccess;
  });
}

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}

cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  return answer([&](Device& device) {
    Event* const event = device.execution().queues().find(handle);
    if (event == nullptr) return cudaErrorInvalidResourceHandle;
    if (event->destroyed) {
      device.findings().add(
          warpcheck::vgpu::destroyed_twice(reported_name("cudaEventDestroy"), "event"));
      return cudaErrorInvalidResourceHandle;
    }
    device.execution().queues().destroy(handle);
    return cudaSuccess;
  });
}

cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t handle, unsigned flags) {
  return with_event("cudaEventRecord", event, [&](Device& device, Event& found) {
    Stream* const stream = device.execution().find_stream("cudaEventRecord", handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (stream->device != found.device) {
      return device.errors().because(cudaErrorInvalidResourceHandle,
                                     fmt::format("the event is of device {}, and the stream of {}",
                                                 found.device, stream->device));
    }
    if (const cudaError_t error = check_flags(device, flags, cudaEventRecordExternal)) return error;
    if (stream->capture != nullptr) {
      refuse_in_capture(found);
      if (flags == cudaEventRecordExternal) {
        add_event_node(*stream, cudaGraphNodeTypeEventRecord, event);
        return cudaSuccess;
      }
      found.record = nullptr;
      found.capture = stream->capture;
      found.captured_after = stream->captured_after;
      return cudaSuccess;
    }
    found.capture = nullptr;
    Work work;
    if (found.of_processes != nullptr) {
      work = ProcessEventWork{found.of_processes, found.of_processes->record()};
    }
    const cudaError_t error = device.execution().submit(*stream, std::move(work), false);
    if (error == cudaSuccess) found.record = stream->last;
    return error;
  });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  return with_event("cudaEventQuery", event, [](Device& device, Event& found) {
    if (found.capture != nullptr) return cudaErrorCapturedEvent;
    if (found.is_others()) {
      device.execution().make_progress();
      const ProcessEvent& others = *found.of_processes;
      return others.is_done(others.latest()) ? cudaSuccess : cudaErrorNotReady;
    }
    if (found.record == nullptr) return cudaSuccess;
    return query(device, {found.record});
  });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  return with_event("cudaEventSynchronize", event, [](Device& device, Event& found) {
    if (found.capture != nullptr) return cudaErrorCapturedEvent;
    if (found.is_others()) {
      device.execution().wait_for_processes(*found.of_processes, found.of_processes->latest());
    } else if (found.record != nullptr) {
      device.execution().wait_for(found.record);
    }
    return device.errors().sticky();
  });
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  return with_event("cudaIpcGetEventHandle", event, [&](Device&, const Event& found) {
    if (handle == nullptr) return cudaErrorInvalidValue;
    if (found.of_processes == nullptr) return cudaErrorInvalidResourceHandle;
    *handle = found.of_processes->handle();
    return cudaSuccess;
  });
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t handle) {
  return answer([&](Device& device) {
    require_exec("cudaIpcOpenEventHandle");
    if (event == nullptr) return cudaErrorInvalidValue;
    cudaError_t error = cudaSuccess;
    const std::shared_ptr<ProcessEvent> opened = ProcessEvent::open(handle, error);
    if (opened == nullptr) return error;
    Queues& queues = device.execution().queues();
    *event = queues.create_event(cudaEventDisableTiming | cudaEventInterprocess);
    queues.find(*event)->of_processes = opened;
    return cudaSuccess;
  });
}

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  return answer([&](Device& device) {
    if (milliseconds == nullptr) return cudaErrorInvalidValue;
    const Event* const first = device.execution().find_event("cudaEventElapsedTime", start);
    const Event* const last = device.execution().find_event("cudaEventElapsedTime", end);
    if (first == nullptr || last == nullptr) return cudaErrorInvalidResourceHandle;
    std::string why = why_without_time("first", *first);
    if (why.empty()) why = why_without_time("last", *last);
    if (why.empty() && first->device != last->device)
      why = fmt::format("the events are of devices {} and {}", first->device, last->device);
    if (!why.empty()) {
      return device.errors().because(cudaErrorInvalidResourceHandle, std::move(why));
    }
    if (!first->is_done() || !last->is_done()) return cudaErrorNotReady;
    const auto cycles = static_cast<std::int64_t>(last->record->ended_at - first->record->ended_at);
    *milliseconds = static_cast<float>(static_cast<double>(cycles) * 1000.0 /
                                       static_cast<double>(virtual_gpu::kClockHz));
    return cudaSuccess;
  });
}

}  // extern "C"
