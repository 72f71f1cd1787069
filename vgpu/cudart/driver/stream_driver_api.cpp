// Streams and events of the driver API, whose handles are the runtime's.
#include <cuda.h>

#include "vgpu/cudart/driver/driver_call.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

//   green: may be null: then the context of a stream of a green context is that context
CUresult get_context_of(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  return in_context([&] {
    int device = 0;
    if (context == nullptr) return fail(cudaErrorInvalidValue);
    if (const cudaError_t error = cudaStreamGetDevice(stream, &device)) return error;
    Context* const of_stream = green_context_of(stream);
    Context* const own = of_stream != nullptr ? of_stream : current_context();
    const bool is_apart = of_stream != nullptr && green != nullptr;
    *context = handle_of(is_apart ? &primary_context(device) : own);
    if (green != nullptr) *green = reinterpret_cast<CUgreenCtx>(of_stream);
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

}  // namespace

extern "C" {

CUresult virtual_cuStreamDestroy(CUstream stream) { return cuStreamDestroy_v2(stream); }

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return get_context_of(stream, context, nullptr);
}

CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  return get_context_of(stream, context, green);
}

CUresult virtual_cuStreamBeginCapture(CUstream stream) {
  return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
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

CUresult virtual_cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* nodes,
                                                   size_t count, unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(stream, nodes, nullptr, count, flags);
}

CUresult virtual_cuEventDestroy(CUevent event) { return cuEventDestroy_v2(event); }

CUresult virtual_cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}

}  // extern "C"
