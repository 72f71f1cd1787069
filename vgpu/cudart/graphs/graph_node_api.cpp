// The nodes of graphs by type: create, query and change them, in a graph or in an instantiated
// graph.  Nodes that move or allocate memory are in graph_memory_node_api.cpp.
#include <cuda_runtime_api.h>

#include <climits>
#include <memory>
#include <utility>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/api/launches.hpp"
#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/cudart/graphs/graph_nodes.hpp"
#include "vgpu/cudart/graphs/graphs.hpp"

namespace warpcheck::cudart {
namespace {

template <typename Parameters>
cudaError_t kernel_work(Device& device, const Parameters& given, Work& work) {
  if (given.kernelParams == nullptr && given.extra != nullptr) {
    throw vgpu::Refusal("kernel nodes with arguments in `extra` are not supported");
  }
  KernelWork kernel;
  const cudaError_t error =
      prepare(device, given.func, {given.gridDim, given.blockDim, given.sharedMemBytes},
              given.kernelParams, kernel);
  if (error == cudaSuccess) work = std::move(kernel);
  return error;
}

template <typename Parameters>
cudaError_t host_work(const Parameters& given, Work& work) {
  if (given.fn == nullptr) return cudaErrorInvalidValue;
  HostWork host;
  host.function = given.fn;
  host.argument = given.userData;
  work = host;
  return cudaSuccess;
}

cudaError_t set_event(Device& device, cudaEvent_t event, Node& node) {
  if (device.execution().find_event("cudaGraphAddEventRecordNode", event) == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  node.event = event;
  return cudaSuccess;
}

cudaError_t set_child(Device& device, cudaGraph_t handle, Node& node) {
  const Graph* const child = device.graphs().find(handle);
  if (child == nullptr) return cudaErrorInvalidValue;
  node.child = child->clone();
  node.child->parent = node.graph;
  return cudaSuccess;
}

// Creates the bodies of a conditional node, which owns them.
cudaError_t make_choice(Device& device, cudaConditionalNodeParams& given, Node& node) {
  const auto condition = device.graphs().conditionals.find(given.handle);
  const int type = number_of(given.type);
  const unsigned bodies_max = type == cudaGraphCondTypeSwitch  ? UINT_MAX
                              : type == cudaGraphCondTypeWhile ? 1
                                                               : 2;
  if (condition == device.graphs().conditionals.end() || given.size == 0 ||
      given.size > bodies_max || type < cudaGraphCondTypeIf || type > cudaGraphCondTypeSwitch) {
    return cudaErrorInvalidValue;
  }
  node.choice = {condition->second, given.type, {}};
  node.bodies_given_out.clear();
  for (unsigned i = 0; i < given.size; ++i) {
    node.choice.bodies.push_back(std::make_shared<Graph>());
    node.bodies_given_out.push_back(handle_of(node.choice.bodies.back().get()));
  }
  given.phGraph_out = node.bodies_given_out.data();
  return cudaSuccess;
}

cudaError_t set_any(Device& device, const cudaGraphNodeParams& given, Node& node) {
  switch (number_of(given.type)) {
    case cudaGraphNodeTypeEmpty: return cudaSuccess;
    case cudaGraphNodeTypeKernel: return kernel_work(device, given.kernel, node.work);
    case cudaGraphNodeTypeMemcpy: return copy_work(device, &given.memcpy.copyParams, node.work);
    case cudaGraphNodeTypeMemset: return fill_work(device, given.memset, node.work);
    case cudaGraphNodeTypeHost: return host_work(given.host, node.work);
    case cudaGraphNodeTypeGraph: return set_child(device, given.graph.graph, node);
    case cudaGraphNodeTypeWaitEvent: return set_event(device, given.eventWait.event, node);
    case cudaGraphNodeTypeEventRecord: return set_event(device, given.eventRecord.event, node);
    default: throw vgpu::Refusal("cudaGraphAddNode: memory and semaphore nodes are not supported");
  }
}

}  // namespace
}  // namespace warpcheck::cudart

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

extern "C" {

// ---- all types ----

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph,
                                             unsigned default_value, unsigned flags) {
  return answer([&](Device& device) {
    if (handle == nullptr || (flags & ~unsigned{cudaGraphCondAssignDefault}) != 0 ||
        device.graphs().find(graph) == nullptr) {
      return cudaErrorInvalidValue;
    }
    auto condition = std::make_shared<Conditional>();
    if (flags != 0) condition->at_launch = default_value;
    *handle = device.graphs().next_conditional++;
    device.graphs().conditionals.emplace(*handle, std::move(condition));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData* edges, size_t count,
                             cudaGraphNodeParams* parameters) {
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  return add_node({node, graph, after, count}, parameters->type, [&](Device& device, Node& made) {
    if (number_of(parameters->type) == cudaGraphNodeTypeConditional) {
      return make_choice(device, parameters->conditional, made);
    }
    const cudaError_t error = set_any(device, *parameters, made);
    for (std::size_t i = 0; edges != nullptr && i < count; ++i) take_edge(made, edges[i]);
    return error;
  });
}

cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t handle, cudaGraphNodeParams* parameters) {
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  return with_node(handle, parameters->type,
                   [&](Device& device, Node& node) { return set_any(device, *parameters, node); });
}

cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t handle,
                                       cudaGraphNodeParams* parameters) {
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  return with_node(executable, handle, parameters->type,
                   [&](Device& device, Node& node) { return set_any(device, *parameters, node); });
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, size_t count) {
  return add_node({node, graph, after, count}, cudaGraphNodeTypeEmpty,
                  [](Device&, Node&) { return cudaSuccess; });
}

cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t executable, cudaGraphNode_t handle,
                                    unsigned enabled) {
  return answer([&](Device& device) {
    ExecutableGraph* const found = device.graphs().find(executable);
    if (found == nullptr) return cudaErrorInvalidValue;
    Node* const node = found->graph->find_clone(reinterpret_cast<const Node*>(handle));
    const bool can_be = node != nullptr && (node->type == cudaGraphNodeTypeKernel ||
                                            node->type == cudaGraphNodeTypeMemset ||
                                            node->type == cudaGraphNodeTypeMemcpy);
    if (!can_be) return cudaErrorInvalidValue;
    node->enabled = enabled != 0;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t executable, cudaGraphNode_t handle,
                                    unsigned* enabled) {
  return answer([&](Device& device) {
    ExecutableGraph* const found = device.graphs().find(executable);
    if (found == nullptr || enabled == nullptr) return cudaErrorInvalidValue;
    const Node* const node = found->graph->find_clone(reinterpret_cast<const Node*>(handle));
    if (node == nullptr) return cudaErrorInvalidValue;
    *enabled = node->enabled ? 1 : 0;
    return cudaSuccess;
  });
}

// ---- kernels ----

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  return add_node(
      {node, graph, after, count}, cudaGraphNodeTypeKernel,
      [&](Device& device, Node& made) { return kernel_work(device, *parameters, made.work); });
}

cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t handle,
                                         const cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  return with_node(handle, cudaGraphNodeTypeKernel, [&](Device& device, Node& node) {
    return kernel_work(device, *parameters, node.work);
  });
}

cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t handle,
                                             const cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  return with_node(executable, handle, cudaGraphNodeTypeKernel, [&](Device& device, Node& node) {
    return kernel_work(device, *parameters, node.work);
  });
}

cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t handle, cudaKernelNodeParams* parameters) {
  return with_node(handle, cudaGraphNodeTypeKernel, [&](Device&, Node& node) {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    if (std::holds_alternative<LibraryWork>(node.work)) {
      throw warpcheck::vgpu::Refusal(
          "cudaGraphKernelNodeGetParams of a function of a library: it has no kernel here");
    }
    auto& work = std::get<KernelWork>(node.work);
    node.arguments.clear();
    for (const auto& parameter : program_of(work).parameters) {
      node.arguments.push_back(work.parameters.data() + parameter.offset);
    }
    *parameters = {};
    parameters->func = const_cast<void*>(work.kernel->host_function);
    parameters->gridDim = dim3(work.grid.x, work.grid.y, work.grid.z);
    parameters->blockDim = dim3(work.block.x, work.block.y, work.block.z);
    parameters->sharedMemBytes = work.dynamic_shared_bytes;
    parameters->kernelParams = node.arguments.data();
    return cudaSuccess;
  });
}

// ---- host functions ----

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                 const cudaGraphNode_t* after, size_t count,
                                 const cudaHostNodeParams* parameters) {
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  return add_node({node, graph, after, count}, cudaGraphNodeTypeHost,
                  [&](Device&, Node& made) { return host_work(*parameters, made.work); });
}

cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t handle,
                                       const cudaHostNodeParams* parameters) {
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  return with_node(handle, cudaGraphNodeTypeHost,
                   [&](Device&, Node& node) { return host_work(*parameters, node.work); });
}

cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t handle,
                                           const cudaHostNodeParams* parameters) {
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  return with_node(executable, handle, cudaGraphNodeTypeHost,
                   [&](Device&, Node& node) { return host_work(*parameters, node.work); });
}

cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t handle, cudaHostNodeParams* parameters) {
  return with_node(handle, cudaGraphNodeTypeHost, [&](Device&, Node& node) {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    const auto& work = std::get<HostWork>(node.work);
    *parameters = {work.function, work.argument};
    return cudaSuccess;
  });
}

// ---- child graphs ----

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                       const cudaGraphNode_t* after, size_t count,
                                       cudaGraph_t child) {
  return add_node({node, graph, after, count}, cudaGraphNodeTypeGraph,
                  [&](Device& device, Node& made) { return set_child(device, child, made); });
}

cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t handle, cudaGraph_t* graph) {
  return with_node(handle, cudaGraphNodeTypeGraph, [&](Device&, Node& node) {
    if (graph == nullptr) return cudaErrorInvalidValue;
    *graph = handle_of(node.child.get());
    return cudaSuccess;
  });
}

cudaError_t cudaGraphExecChildGraphNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t handle,
                                                 cudaGraph_t child) {
  return with_node(executable, handle, cudaGraphNodeTypeGraph,
                   [&](Device& device, Node& node) { return set_child(device, child, node); });
}

// ---- events ----

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                        const cudaGraphNode_t* after, size_t count,
                                        cudaEvent_t event) {
  return add_node({node, graph, after, count}, cudaGraphNodeTypeEventRecord,
                  [&](Device& device, Node& made) { return set_event(device, event, made); });
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                      const cudaGraphNode_t* after, size_t count,
                                      cudaEvent_t event) {
  return add_node({node, graph, after, count}, cudaGraphNodeTypeWaitEvent,
                  [&](Device& device, Node& made) { return set_event(device, event, made); });
}

cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t handle, cudaEvent_t* event) {
  return with_node(handle, cudaGraphNodeTypeEventRecord, [&](Device&, Node& node) {
    if (event == nullptr) return cudaErrorInvalidValue;
    *event = node.event;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t handle, cudaEvent_t event) {
  return with_node(handle, cudaGraphNodeTypeEventRecord,
                   [&](Device& device, Node& node) { return set_event(device, event, node); });
}

cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t handle, cudaEvent_t* event) {
  return with_node(handle, cudaGraphNodeTypeWaitEvent, [&](Device&, Node& node) {
    if (event == nullptr) return cudaErrorInvalidValue;
    *event = node.event;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t handle, cudaEvent_t event) {
  return with_node(handle, cudaGraphNodeTypeWaitEvent,
                   [&](Device& device, Node& node) { return set_event(device, event, node); });
}

cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t handle,
                                                 cudaEvent_t event) {
  return with_node(executable, handle, cudaGraphNodeTypeEventRecord,
                   [&](Device& device, Node& node) { return set_event(device, event, node); });
}

cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t executable, cudaGraphNode_t handle,
                                               cudaEvent_t event) {
  return with_node(executable, handle, cudaGraphNodeTypeWaitEvent,
                   [&](Device& device, Node& node) { return set_event(device, event, node); });
}

}  // extern "C"
