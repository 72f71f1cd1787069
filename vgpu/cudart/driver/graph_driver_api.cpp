// Graphs of the driver API, whose handles are the runtime's: functions with equal parameters in
// both APIs.  Nodes with the driver's own structures are in graph_node_driver_api.cpp.
#include <cuda.h>

#include "vgpu/cudart/driver/driver_call.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

const cudaGraphEdgeData* data_of(const CUgraphEdgeData* data) {
  static_assert(sizeof(CUgraphEdgeData) == sizeof(cudaGraphEdgeData));
  return reinterpret_cast<const cudaGraphEdgeData*>(data);
}
cudaGraphEdgeData* data_of(CUgraphEdgeData* data) {
  return reinterpret_cast<cudaGraphEdgeData*>(data);
}

}  // namespace

extern "C" {

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return after_init([&] { return cudaGraphCreate(graph, flags); });
}
CUresult cuGraphDestroy(CUgraph graph) {
  return after_init([&] { return cudaGraphDestroy(graph); });
}
CUresult cuGraphClone(CUgraph* clone, CUgraph graph) {
  return after_init([&] { return cudaGraphClone(clone, graph); });
}
CUresult cuGraphNodeFindInClone(CUgraphNode* node, CUgraphNode original, CUgraph clone) {
  return after_init([&] { return cudaGraphNodeFindInClone(node, original, clone); });
}
CUresult cuGraphDestroyNode(CUgraphNode node) {
  return after_init([&] { return cudaGraphDestroyNode(node); });
}
CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType* type) {
  return after_init(
      [&] { return cudaGraphNodeGetType(node, reinterpret_cast<cudaGraphNodeType*>(type)); });
}
CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return after_init([&] { return cudaGraphGetNodes(graph, nodes, count); });
}
CUresult cuGraphGetRootNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return after_init([&] { return cudaGraphGetRootNodes(graph, nodes, count); });
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to,
                            CUgraphEdgeData* data, size_t* count) {
  return after_init([&] { return cudaGraphGetEdges(graph, from, to, data_of(data), count); });
}
CUresult virtual_cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* data,
                                       size_t* count) {
  return after_init(
      [&] { return cudaGraphNodeGetDependencies(node, nodes, data_of(data), count); });
}
CUresult virtual_cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes,
                                         CUgraphEdgeData* data, size_t* count) {
  return after_init(
      [&] { return cudaGraphNodeGetDependentNodes(node, nodes, data_of(data), count); });
}
CUresult virtual_cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData* data, size_t count) {
  return after_init(
      [&] { return cudaGraphAddDependencies(graph, from, to, data_of(data), count); });
}
CUresult virtual_cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from,
                                        const CUgraphNode* to, size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData* data, size_t count) {
  return after_init(
      [&] { return cudaGraphRemoveDependencies(graph, from, to, data_of(data), count); });
}
CUresult virtual_cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from,
                                           const CUgraphNode* to, size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
}

CUresult cuGraphAddEmptyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                             size_t count) {
  return in_context([&] { return cudaGraphAddEmptyNode(node, graph, after, count); });
}
CUresult cuGraphAddChildGraphNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                  size_t count, CUgraph child) {
  return in_context([&] { return cudaGraphAddChildGraphNode(node, graph, after, count, child); });
}
CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph* child) {
  return after_init([&] { return cudaGraphChildGraphNodeGetGraph(node, child); });
}
CUresult cuGraphAddEventRecordNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                   size_t count, CUevent event) {
  return in_context([&] { return cudaGraphAddEventRecordNode(node, graph, after, count, event); });
}
CUresult cuGraphAddEventWaitNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                 size_t count, CUevent event) {
  return in_context([&] { return cudaGraphAddEventWaitNode(node, graph, after, count, event); });
}
CUresult cuGraphEventRecordNodeGetEvent(CUgraphNode node, CUevent* event) {
  return after_init([&] { return cudaGraphEventRecordNodeGetEvent(node, event); });
}
CUresult cuGraphEventRecordNodeSetEvent(CUgraphNode node, CUevent event) {
  return after_init([&] { return cudaGraphEventRecordNodeSetEvent(node, event); });
}
CUresult cuGraphEventWaitNodeGetEvent(CUgraphNode node, CUevent* event) {
  return after_init([&] { return cudaGraphEventWaitNodeGetEvent(node, event); });
}
CUresult cuGraphEventWaitNodeSetEvent(CUgraphNode node, CUevent event) {
  return after_init([&] { return cudaGraphEventWaitNodeSetEvent(node, event); });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* made, CUgraph graph, unsigned long long flags) {
  return in_context([&] { return cudaGraphInstantiate(made, graph, flags); });
}
CUresult cuGraphInstantiate_v2(CUgraphExec* made, CUgraph graph, CUgraphNode* culprit, char* log,
                               size_t bytes) {
  if (culprit != nullptr) *culprit = nullptr;
  if (log != nullptr && bytes != 0) *log = '\0';
  return in_context([&] { return cudaGraphInstantiate(made, graph, 0); });
}
CUresult virtual_cuGraphInstantiate(CUgraphExec* made, CUgraph graph, CUgraphNode* culprit,
                                    char* log, size_t bytes) {
  return cuGraphInstantiate_v2(made, graph, culprit, log, bytes);
}
CUresult cuGraphInstantiateWithParams(CUgraphExec* made, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  static_assert(sizeof *parameters == sizeof(cudaGraphInstantiateParams));
  return in_context([&] {
    return cudaGraphInstantiateWithParams(
        made, graph, reinterpret_cast<cudaGraphInstantiateParams*>(parameters));
  });
}

CUresult cuGraphExecUpdate_v2(CUgraphExec made, CUgraph graph, CUgraphExecUpdateResultInfo* info) {
  static_assert(sizeof *info == sizeof(cudaGraphExecUpdateResultInfo));
  return in_context([&] {
    return cudaGraphExecUpdate(made, graph, reinterpret_cast<cudaGraphExecUpdateResultInfo*>(info));
  });
}
CUresult virtual_cuGraphExecUpdate(CUgraphExec made, CUgraph graph, CUgraphNode* culprit,
                                   CUgraphExecUpdateResult* result) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult error = cuGraphExecUpdate_v2(made, graph, &info);
  if (culprit != nullptr) *culprit = info.errorNode;
  if (result != nullptr) *result = info.result;
  return error;
}

CUresult cuGraphLaunch(CUgraphExec made, CUstream stream) {
  return in_context([&] { return cudaGraphLaunch(made, stream); });
}
CUresult cuGraphUpload(CUgraphExec made, CUstream stream) {
  return in_context([&] { return cudaGraphUpload(made, stream); });
}
CUresult cuGraphExecDestroy(CUgraphExec made) {
  return after_init([&] { return cudaGraphExecDestroy(made); });
}
CUresult cuGraphExecGetFlags(CUgraphExec made, cuuint64_t* flags) {
  return after_init([&] {
    unsigned long long known = 0;
    const cudaError_t error = cudaGraphExecGetFlags(made, flags == nullptr ? nullptr : &known);
    if (error == cudaSuccess) *flags = known;
    return error;
  });
}
CUresult cuGraphNodeSetEnabled(CUgraphExec made, CUgraphNode node, unsigned enabled) {
  return after_init([&] { return cudaGraphNodeSetEnabled(made, node, enabled); });
}
CUresult cuGraphNodeGetEnabled(CUgraphExec made, CUgraphNode node, unsigned* enabled) {
  return after_init([&] { return cudaGraphNodeGetEnabled(made, node, enabled); });
}
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec made, CUgraphNode node, CUgraph child) {
  return after_init([&] { return cudaGraphExecChildGraphNodeSetParams(made, node, child); });
}
CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec made, CUgraphNode node, CUevent event) {
  return after_init([&] { return cudaGraphExecEventRecordNodeSetEvent(made, node, event); });
}
CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec made, CUgraphNode node, CUevent event) {
  return after_init([&] { return cudaGraphExecEventWaitNodeSetEvent(made, node, event); });
}

}  // extern "C"
