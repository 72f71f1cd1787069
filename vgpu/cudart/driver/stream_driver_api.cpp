// Streams and events of the driver API, whose handles are the runtime's.
#include <cuda.h>

#include "vgpu/cudart/driver/driver_call.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

CUresult get_context_of(CUstream stream, CUcontext* context) {
  return in_context([&] {
    int device = 0;
    if (context == nullptr) return fail(cudaErrorInvalidValue);
    const cudaError_t error = cudaStreamGetDevice(stream, &device);
    if (error != cudaSuccess) return error;
    *context = handle_of(current_context());
    return cudaSuccess;
  });
}

CUresult get_capture_info(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                          CUgraph* graph, const CUgraphNode** nodes, const CUgraphEdgeData** edges,
                          size_t* count) {
  return in_context([&] {
    if (status == nullptr) return fail(cudaErrorInvalidValue);
    cudaStreamCaptureStatus known{};
    unsigned long long number = 0;
    const cudaGraphEdgeData* data = nullptr;
    const cudaError_t error = cudaStreamGetCaptureInfo(stream, &known, &number, graph, nodes,
                                                       edges == nullptr ? nullptr : &data, count);
    if (error != cudaSuccess) return error;
    *status = static_cast<CUstreamCaptureStatus>(known);
    if (id != nullptr) *id = number;
    if (edges != nullptr) *edges = reinterpret_cast<const CUgraphEdgeData*>(data);
    return cudaSuccess;
  });
}

cudaStreamCaptureMode mode_of(CUstreamCaptureMode mode) {
  return static_cast<cudaStreamCaptureMode>(number_of(mode));
}

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return in_context([&] { return cudaStreamCreateWithFlags(stream, flags); });
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return in_context([&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  return in_context([&] { return cudaStreamDestroy(stream); });
}
CUresult virtual_cuStreamDestroy(CUstream stream) { return cuStreamDestroy_v2(stream); }

CUresult cuStreamSynchronize(CUstream stream) {
  return in_context([&] { return cudaStreamSynchronize(stream); });
}

CUresult cuStreamQuery(CUstream stream) {
  return in_context([&] { return cudaStreamQuery(stream); });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return in_context([&] { return cudaStreamWaitEvent(stream, event, flags); });
}

CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return in_context([&] { return cudaStreamGetFlags(stream, flags); });
}

CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return in_context([&] { return cudaStreamGetPriority(stream, priority); });
}

CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return in_context([&] { return cudaStreamGetId(stream, id); });
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return in_context([&] { return cudaStreamGetDevice(stream, device); });
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return get_context_of(stream, context);
}

CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  if (green != nullptr) *green = nullptr;
  return get_context_of(stream, context);
}

CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue* value) {
  return in_context([&] {
    return cudaStreamGetAttribute(stream, static_cast<cudaStreamAttrID>(number_of(attribute)),
                                  reinterpret_cast<cudaStreamAttrValue*>(value));
  });
}

CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID attribute,
                              const CUstreamAttrValue* value) {
  return in_context([&] {
    return cudaStreamSetAttribute(stream, static_cast<cudaStreamAttrID>(number_of(attribute)),
                                  reinterpret_cast<const cudaStreamAttrValue*>(value));
  });
}

CUresult cuStreamCopyAttributes(CUstream target, CUstream source) {
  return in_context([&] { return cudaStreamCopyAttributes(target, source); });
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes,
                                unsigned flags) {
  return in_context(
      [&] { return cudaStreamAttachMemAsync(stream, to_pointer(address), bytes, flags); });
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* argument) {
  return in_context([&] { return cudaLaunchHostFunc(stream, function, argument); });
}

// A callback receives an error of its API; both APIs use the same number for the errors that it can
// receive.
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* argument,
                             unsigned flags) {
  return in_context([&] {
    return cudaStreamAddCallback(stream, reinterpret_cast<cudaStreamCallback_t>(callback), argument,
                                 flags);
  });
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return in_context([&] { return cudaStreamBeginCapture(stream, mode_of(mode)); });
}
CUresult virtual_cuStreamBeginCapture(CUstream stream) {
  return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* nodes,
                                     const CUgraphEdgeData* edges, size_t count,
                                     CUstreamCaptureMode mode) {
  return in_context([&] {
    return cudaStreamBeginCaptureToGraph(stream, graph, nodes,
                                         reinterpret_cast<const cudaGraphEdgeData*>(edges), count,
                                         mode_of(mode));
  });
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return in_context([&] { return cudaStreamEndCapture(stream, graph); });
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return in_context([&] {
    return cudaStreamIsCapturing(stream, reinterpret_cast<cudaStreamCaptureStatus*>(status));
  });
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** nodes,
                                   const CUgraphEdgeData** edges, size_t* count) {
  return get_capture_info(stream, status, id, graph, nodes, edges, count);
}
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** nodes, size_t* count) {
  return get_capture_info(stream, status, id, graph, nodes, nullptr, count);
}
CUresult virtual_cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status,
                                        cuuint64_t* id) {
  return get_capture_info(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* nodes,
                                              const CUgraphEdgeData* edges, size_t count,
                                              unsigned flags) {
  return in_context([&] {
    return cudaStreamUpdateCaptureDependencies(
        stream, nodes, reinterpret_cast<const cudaGraphEdgeData*>(edges), count, flags);
  });
}
CUresult virtual_cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* nodes,
                                                   size_t count, unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(stream, nodes, nullptr, count, flags);
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return in_context([&] {
    return cudaThreadExchangeStreamCaptureMode(reinterpret_cast<cudaStreamCaptureMode*>(mode));
  });
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return in_context([&] { return cudaEventCreateWithFlags(event, flags); });
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event) {
  return in_context([&] {
    return cudaIpcGetEventHandle(reinterpret_cast<cudaIpcEventHandle_t*>(handle), event);
  });
}
CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
  return in_context([&] {
    return cudaIpcOpenEventHandle(event, __builtin_bit_cast(cudaIpcEventHandle_t, handle));
  });
}

CUresult cuEventDestroy_v2(CUevent event) {
  return in_context([&] { return cudaEventDestroy(event); });
}
CUresult virtual_cuEventDestroy(CUevent event) { return cuEventDestroy_v2(event); }

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return in_context([&] { return cudaEventRecord(event, stream); });
}

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return in_context([&] { return cudaEventRecordWithFlags(event, stream, flags); });
}

CUresult cuEventQuery(CUevent event) {
  return in_context([&] { return cudaEventQuery(event); });
}

CUresult cuEventSynchronize(CUevent event) {
  return in_context([&] { return cudaEventSynchronize(event); });
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return in_context([&] { return cudaEventElapsedTime(milliseconds, start, end); });
}
CUresult virtual_cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

}  // extern "C"
