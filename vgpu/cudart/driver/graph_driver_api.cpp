// Graphs of the driver API, whose handles are the runtime's.  Nodes with the driver's own
// structures are in graph_node_driver_api.cpp.
#include <cuda.h>

#include "vgpu/cudart/driver/driver_call.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

extern "C" {

CUresult virtual_cuGraphGetEdges(CUgraph graph, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  return cuGraphGetEdges_v2(graph, from, to, nullptr, count);
}

CUresult virtual_cuGraphNodeGetDependencies(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return cuGraphNodeGetDependencies_v2(node, nodes, nullptr, count);
}

CUresult virtual_cuGraphNodeGetDependentNodes(CUgraphNode node, CUgraphNode* nodes, size_t* count) {
  return cuGraphNodeGetDependentNodes_v2(node, nodes, nullptr, count);
}

CUresult virtual_cuGraphAddDependencies(CUgraph graph, const CUgraphNode* from,
                                        const CUgraphNode* to, size_t count) {
  return cuGraphAddDependencies_v2(graph, from, to, nullptr, count);
}

CUresult virtual_cuGraphRemoveDependencies(CUgraph graph, const CUgraphNode* from,
                                           const CUgraphNode* to, size_t count) {
  return cuGraphRemoveDependencies_v2(graph, from, to, nullptr, count);
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

CUresult virtual_cuGraphExecUpdate(CUgraphExec made, CUgraph graph, CUgraphNode* culprit,
                                   CUgraphExecUpdateResult* result) {
  CUgraphExecUpdateResultInfo info{};
  const CUresult error = cuGraphExecUpdate_v2(made, graph, &info);
  if (culprit != nullptr) *culprit = info.errorNode;
  if (result != nullptr) *result = info.result;
  return error;
}

CUresult cuGraphExecGetFlags(CUgraphExec made, cuuint64_t* flags) {
  return after_init([&] {
    unsigned long long known = 0;
    const cudaError_t error = cudaGraphExecGetFlags(made, flags == nullptr ? nullptr : &known);
    if (error == cudaSuccess) *flags = known;
    return error;
  });
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph, CUcontext,
                                        unsigned value, unsigned flags) {
  return after_init([&] {
    static_assert(sizeof(CUgraphConditionalHandle) == sizeof(cudaGraphConditionalHandle));
    cudaGraphConditionalHandle made{};
    const cudaError_t error =
        cudaGraphConditionalHandleCreate(handle == nullptr ? nullptr : &made, graph, value, flags);
    if (error == cudaSuccess) *handle = made;
    return error;
  });
}

}  // extern "C"
