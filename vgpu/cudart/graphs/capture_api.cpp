// Captures graphs from the operations that a program requests of its streams.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <utility>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/graphs/graphs.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

bool is_mode(const cudaStreamCaptureMode& mode) {
  return static_cast<unsigned>(number_of(mode)) <= cudaStreamCaptureModeRelaxed;
}

cudaStreamCaptureStatus status_of(const Stream& stream) {
  if (stream.capture == nullptr) return cudaStreamCaptureStatusNone;
  return stream.capture->invalidated ? cudaStreamCaptureStatusInvalidated
                                     : cudaStreamCaptureStatusActive;
}

cudaError_t begin(Device& device, Stream& stream, Graph* into, std::vector<Node*> after) {
  if (stream.is_legacy) return cudaErrorStreamCaptureUnsupported;
  if (stream.capture != nullptr) return cudaErrorIllegalState;
  auto capture = std::make_shared<Capture>();
  if (into == nullptr) {
    capture->own = std::make_unique<Graph>();
    into = capture->own.get();
  }
  capture->graph = into;
  capture->origin = &stream;
  capture->id = device.graphs().next_capture++;
  std::vector<std::weak_ptr<Capture>>& captures = device.graphs().captures;
  std::erase_if(captures, [](const auto& one) { return one.expired(); });
  captures.push_back(capture);
  stream.capture = std::move(capture);
  stream.captured_after = std::move(after);
  return cudaSuccess;
}

// Returns whether everything that the streams captured comes before the end of the first stream.
bool is_joined(const Capture& capture, const std::vector<Node*>& end) {
  return std::ranges::all_of(capture.graph->nodes, [&](const auto& node) {
    return !capture.graph->dependents_of(*node).empty() ||
           std::ranges::find(end, node.get()) != end.end();
  });
}

}  // namespace

extern "C" {

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  return on_stream("cudaStreamBeginCapture", stream, [&](Device& device, Stream& found) {
    if (!is_mode(mode)) return cudaErrorInvalidValue;
    return begin(device, found, nullptr, {});
  });
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t handle,
                                          const cudaGraphNode_t* after, const cudaGraphEdgeData*,
                                          size_t count, cudaStreamCaptureMode mode) {
  return on_stream("cudaStreamBeginCaptureToGraph", stream, [&](Device& device, Stream& found) {
    Graph* const graph = device.graphs().find(handle);
    if (graph == nullptr || !is_mode(mode) || (count != 0 && after == nullptr)) {
      return cudaErrorInvalidValue;
    }
    std::vector<Node*> nodes;
    for (std::size_t i = 0; i < count; ++i) {
      Node* const node = device.graphs().find(after[i]);
      if (node == nullptr || node->graph != graph) return cudaErrorInvalidValue;
      nodes.push_back(node);
    }
    return begin(device, found, graph, std::move(nodes));
  });
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* handle) {
  return on_stream("cudaStreamEndCapture", stream, [&](Device& device, Stream& found) {
    if (handle != nullptr) *handle = nullptr;
    if (found.capture == nullptr) {
      return device.errors().because(cudaErrorIllegalState, "the stream is not being captured");
    }
    // If the capture adds to a graph of the program, the program already has its handle and may
    // pass null.
    if (handle == nullptr && found.capture->own != nullptr) return cudaErrorInvalidValue;
    if (found.capture->origin != &found) return cudaErrorStreamCaptureUnmatched;
    const std::shared_ptr<Capture> capture = found.capture;
    const std::vector<Node*> end = found.captured_after;
    device.execution().queues().for_each_stream([&](Stream& other) {
      if (other.capture != capture) return;
      other.capture = nullptr;
      other.captured_after.clear();
    });
    capture->ended = true;
    std::unique_ptr<Graph> own = std::move(capture->own);
    if (capture->invalidated) return cudaErrorStreamCaptureInvalidated;
    if (own != nullptr && !is_joined(*capture, end)) return cudaErrorStreamCaptureUnjoined;
    if (handle != nullptr) *handle = handle_of(capture->graph);
    if (own != nullptr) device.graphs().graphs.emplace(*handle, std::move(own));
    return cudaSuccess;
  });
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return on_stream("cudaStreamIsCapturing", stream,
                   [&](Device&, Stream& found) { return write_result(status, status_of(found)); });
}

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                     unsigned long long* id, cudaGraph_t* graph,
                                     const cudaGraphNode_t** nodes, const cudaGraphEdgeData** edges,
                                     size_t* count) {
  return on_stream("cudaStreamGetCaptureInfo", stream, [&](Device&, Stream& found) {
    if (status == nullptr) return cudaErrorInvalidValue;
    *status = status_of(found);
    if (found.capture == nullptr) return cudaSuccess;
    if (id != nullptr) *id = found.capture->id;
    if (graph != nullptr) *graph = handle_of(found.capture->graph);
    // The handle of a node is its address.
    if (nodes != nullptr) {
      *nodes = reinterpret_cast<const cudaGraphNode_t*>(found.captured_after.data());
    }
    if (edges != nullptr) *edges = nullptr;
    if (count != nullptr) *count = found.captured_after.size();
    return cudaSuccess;
  });
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                const cudaGraphEdgeData*, size_t count,
                                                unsigned flags) {
  return on_stream(
      "cudaStreamUpdateCaptureDependencies", stream, [&](Device& device, Stream& found) {
        if (found.capture == nullptr) return cudaErrorIllegalState;
        if (flags > cudaStreamSetCaptureDependencies || (count != 0 && nodes == nullptr)) {
          return cudaErrorInvalidValue;
        }
        std::vector<Node*> after;
        if (flags == cudaStreamAddCaptureDependencies) after = found.captured_after;
        for (std::size_t i = 0; i < count; ++i) {
          Node* const node = device.graphs().find(nodes[i]);
          if (node == nullptr || node->graph != found.capture->graph) return cudaErrorInvalidValue;
          after.push_back(node);
        }
        found.captured_after = std::move(after);
        return cudaSuccess;
      });
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  return answer([&](Device&) {
    if (mode == nullptr || !is_mode(*mode)) return cudaErrorInvalidValue;
    std::swap(*mode, thread_mode);
    return cudaSuccess;
  });
}

}  // extern "C"
