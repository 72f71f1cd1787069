// The nodes of graphs by type: create, query and change them, in a graph or in an instantiated
// graph.  The functions are the rows of graph_node_functions.def; here is what a row does with its
// node.  For nodes that move or allocate memory it is in graph_memory_node_api.cpp.
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

cudaError_t set_nothing(Device&, Node&) { return cudaSuccess; }

cudaError_t set_kernel(Device& device, const cudaKernelNodeParams* given, Node& node) {
  return given == nullptr ? cudaErrorInvalidValue : kernel_work(device, *given, node.work);
}

cudaError_t get_kernel(Node& node, cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  if (std::holds_alternative<LibraryWork>(node.work)) {
    throw vgpu::Refusal(
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
}

cudaError_t set_host(Device&, const cudaHostNodeParams* given, Node& node) {
  return given == nullptr ? cudaErrorInvalidValue : host_work(*given, node.work);
}

cudaError_t get_host(Node& node, cudaHostNodeParams* parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  const auto& work = std::get<HostWork>(node.work);
  *parameters = {work.function, work.argument};
  return cudaSuccess;
}

cudaError_t set_event(Device& device, cudaEvent_t event, Node& node) {
  if (device.execution().find_event("cudaGraphAddEventRecordNode", event) == nullptr) {
    return cudaErrorInvalidResourceHandle;
  }
  node.event = event;
  return cudaSuccess;
}

cudaError_t get_event(Node& node, cudaEvent_t* event) { return write_result(event, node.event); }

cudaError_t set_child(Device& device, cudaGraph_t handle, Node& node) {
  const Graph* const child = device.graphs().find(handle);
  if (child == nullptr) return cudaErrorInvalidValue;
  node.child = child->clone();
  node.child->parent = node.graph;
  return cudaSuccess;
}

cudaError_t get_child(Node& node, cudaGraph_t* graph) {
  return write_result(graph, handle_of(node.child.get()));
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

// ---- of one type ----

#define NODE_ADD(function, type, value, set)                                                   \
  cudaError_t function(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after, \
                       size_t count, value given) {                                            \
    return add_node({node, graph, after, count}, type,                                         \
                    [&](Device& device, Node& made) { return set(device, given, made); });     \
  }
#define NODE_SET(function, type, value, set)                                                \
  cudaError_t function(cudaGraphNode_t handle, value given) {                               \
    return with_node(handle, type,                                                          \
                     [&](Device& device, Node& node) { return set(device, given, node); }); \
  }
#define NODE_SET_EXEC(function, type, value, set)                                           \
  cudaError_t function(cudaGraphExec_t executable, cudaGraphNode_t handle, value given) {   \
    return with_node(executable, handle, type,                                              \
                     [&](Device& device, Node& node) { return set(device, given, node); }); \
  }
#define NODE_GET(function, type, place, get)                                               \
  cudaError_t function(cudaGraphNode_t handle, place given) {                              \
    return with_node(handle, type, [&](Device&, Node& node) { return get(node, given); }); \
  }
#include "vgpu/cudart/graphs/graph_node_functions.def"
#undef NODE_ADD
#undef NODE_SET
#undef NODE_SET_EXEC
#undef NODE_GET

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                  const cudaGraphNode_t* after, size_t count) {
  return add_node({node, graph, after, count}, cudaGraphNodeTypeEmpty, set_nothing);
}

}  // extern "C"
