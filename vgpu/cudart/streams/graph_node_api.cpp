// The nodes of graphs by what they do: made, asked about, changed; in a graph, or in one that has
// been instantiated.
#include <cuda_runtime_api.h>

#include <cstring>
#include <utility>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/device/launches.hpp"
#include "vgpu/cudart/device/registry.hpp"
#include "vgpu/cudart/streams/copies.hpp"
#include "vgpu/cudart/streams/graphs.hpp"

namespace warpcheck::cudart {
namespace {

// ---- work of parameters ----

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

cudaError_t copy_work(Device& device, const cudaMemcpy3DParms* given, Work& work) {
  CopyWork copy;
  copy.call = "cudaGraphAddMemcpyNode";
  cudaError_t error = describe_copy(device, given, copy);
  if (error == cudaSuccess) error = prepare(device, copy);
  if (error == cudaSuccess) work = std::move(copy);
  return error;
}

cudaError_t copy_work(Device& device, void* target, const void* source, std::size_t bytes, int kind,
                      Work& work) {
  CopyWork copy;
  copy.call = "cudaGraphAddMemcpyNode1D";
  copy.target = {target};
  copy.source = {const_cast<void*>(source)};
  copy.box = {bytes};
  copy.kind = kind;
  const cudaError_t error = prepare(device, copy);
  if (error == cudaSuccess) work = std::move(copy);
  return error;
}

template <typename Parameters>
cudaError_t fill_work(Device& device, const Parameters& given, Work& work) {
  const unsigned element = given.elementSize;
  if (element != 1 && element != 2 && element != 4) return cudaErrorInvalidValue;
  FillWork fill;
  fill.call = "cudaGraphAddMemsetNode";
  fill.target = {given.dst, given.pitch};
  fill.box = {given.width * element, given.height};
  fill.value = given.value;
  fill.element_bytes = element;
  const cudaError_t error = prepare(device, fill);
  if (error == cudaSuccess) work = std::move(fill);
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

// ---- where the node is ----

bool list_nodes(const Graphs& graphs, const Graph& graph, const cudaGraphNode_t* handles,
                std::size_t count, std::vector<Node*>& nodes) {
  if (count != 0 && handles == nullptr) return false;
  for (std::size_t i = 0; i < count; ++i) {
    Node* const node = graphs.find(handles[i]);
    if (node == nullptr || node->graph != &graph) return false;
    nodes.push_back(node);
  }
  return true;
}

struct Site {
  cudaGraphNode_t* node;
  cudaGraph_t graph;
  const cudaGraphNode_t* after;
  std::size_t count;
};

// Adds a node of `type` that fill(device, node) completes.
template <typename Fill>
cudaError_t add_node(const Site& site, cudaGraphNodeType type, Fill&& fill) {
  return answer([&](Device& device) {
    Graph* const graph = device.graphs().find(site.graph);
    std::vector<Node*> after;
    if (site.node == nullptr || graph == nullptr ||
        !list_nodes(device.graphs(), *graph, site.after, site.count, after)) {
      return cudaErrorInvalidValue;
    }
    Node made;
    made.type = type;
    const cudaError_t error = fill(device, made);
    if (error != cudaSuccess) return error;
    Node& node = graph->add(type, std::move(after));
    node.work = std::move(made.work);
    node.event = made.event;
    node.child = std::move(made.child);
    if (node.child != nullptr) node.child->parent = graph;
    *site.node = handle_of(&node);
    return cudaSuccess;
  });
}

// Runs `body(device, node)` for a node of `type`.
template <typename Body>
cudaError_t with_node(cudaGraphNode_t handle, cudaGraphNodeType type, Body&& body) {
  return answer([&](Device& device) {
    Node* const node = device.graphs().find(handle);
    if (node == nullptr || node->type != type) return cudaErrorInvalidValue;
    return body(device, *node);
  });
}

// The same for the node that stands for it in an instantiated graph.
template <typename Body>
cudaError_t with_node(cudaGraphExec_t executable, cudaGraphNode_t handle, cudaGraphNodeType type,
                      Body&& body) {
  return answer([&](Device& device) {
    ExecutableGraph* const found = device.graphs().find(executable);
    if (found == nullptr) return cudaErrorInvalidValue;
    Node* const node = found->graph->find_clone(reinterpret_cast<const Node*>(handle));
    if (node == nullptr || node->type != type) return cudaErrorInvalidValue;
    return body(device, *node);
  });
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
    default:
      throw vgpu::Refusal(
          "cudaGraphAddNode: memory, conditional and semaphore nodes are not "
          "supported");
  }
}

cudaMemcpy3DParms parameters_of(const CopyWork& work) {
  const auto pitched = [&](const Place& place) {
    cudaPitchedPtr pointer{place.pointer, place.pitch, work.box.width, work.box.height};
    if (pointer.pitch == 0) pointer.pitch = work.box.width;
    return pointer;
  };
  cudaMemcpy3DParms parameters{};
  parameters.srcPtr = pitched(work.source);
  parameters.dstPtr = pitched(work.target);
  parameters.extent = {work.box.width, work.box.height, work.box.depth};
  parameters.kind = static_cast<cudaMemcpyKind>(work.kind);
  return parameters;
}

}  // namespace
}  // namespace warpcheck::cudart

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

extern "C" {

// ---- any kind ----

cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* after,
                             const cudaGraphEdgeData*, size_t count,
                             cudaGraphNodeParams* parameters) {
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  return add_node({node, graph, after, count}, parameters->type,
                  [&](Device& device, Node& made) { return set_any(device, *parameters, made); });
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

// ---- copies and fills ----

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemcpy3DParms* parameters) {
  return add_node(
      {node, graph, after, count}, cudaGraphNodeTypeMemcpy,
      [&](Device& device, Node& made) { return copy_work(device, parameters, made.work); });
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count, void* target,
                                     const void* source, size_t bytes, cudaMemcpyKind kind) {
  return add_node({node, graph, after, count}, cudaGraphNodeTypeMemcpy,
                  [&](Device& device, Node& made) {
                    return copy_work(device, target, source, bytes, number_of(kind), made.work);
                  });
}

cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t handle,
                                         const cudaMemcpy3DParms* parameters) {
  return with_node(handle, cudaGraphNodeTypeMemcpy, [&](Device& device, Node& node) {
    return copy_work(device, parameters, node.work);
  });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t handle, void* target, const void* source,
                                           size_t bytes, cudaMemcpyKind kind) {
  return with_node(handle, cudaGraphNodeTypeMemcpy, [&](Device& device, Node& node) {
    return copy_work(device, target, source, bytes, number_of(kind), node.work);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t handle,
                                             const cudaMemcpy3DParms* parameters) {
  return with_node(executable, handle, cudaGraphNodeTypeMemcpy, [&](Device& device, Node& node) {
    return copy_work(device, parameters, node.work);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t handle,
                                               void* target, const void* source, size_t bytes,
                                               cudaMemcpyKind kind) {
  return with_node(executable, handle, cudaGraphNodeTypeMemcpy, [&](Device& device, Node& node) {
    return copy_work(device, target, source, bytes, number_of(kind), node.work);
  });
}

cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t handle, cudaMemcpy3DParms* parameters) {
  return with_node(handle, cudaGraphNodeTypeMemcpy, [&](Device&, Node& node) {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    *parameters = parameters_of(std::get<CopyWork>(node.work));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                   const cudaGraphNode_t* after, size_t count,
                                   const cudaMemsetParams* parameters) {
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  return add_node(
      {node, graph, after, count}, cudaGraphNodeTypeMemset,
      [&](Device& device, Node& made) { return fill_work(device, *parameters, made.work); });
}

cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t handle,
                                         const cudaMemsetParams* parameters) {
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  return with_node(handle, cudaGraphNodeTypeMemset, [&](Device& device, Node& node) {
    return fill_work(device, *parameters, node.work);
  });
}

cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t executable, cudaGraphNode_t handle,
                                             const cudaMemsetParams* parameters) {
  if (parameters == nullptr) return fail(cudaErrorInvalidValue);
  return with_node(executable, handle, cudaGraphNodeTypeMemset, [&](Device& device, Node& node) {
    return fill_work(device, *parameters, node.work);
  });
}

cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t handle, cudaMemsetParams* parameters) {
  return with_node(handle, cudaGraphNodeTypeMemset, [&](Device&, Node& node) {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    const auto& work = std::get<FillWork>(node.work);
    *parameters = {work.target.pointer,
                   work.target.pitch,
                   work.value,
                   work.element_bytes,
                   work.box.width / work.element_bytes,
                   work.box.height};
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

// ---- memory ----

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  return add_node(
      {node, graph, after, count}, cudaGraphNodeTypeMemAlloc, [&](Device& device, Node& made) {
        if (parameters == nullptr || parameters->bytesize == 0) {
          return cudaErrorInvalidValue;
        }
        parameters->dptr = allocate_in_graph(device.allocations(), parameters->bytesize, made.work);
        return parameters->dptr != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
      });
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t handle,
                                           cudaMemAllocNodeParams* parameters) {
  return with_node(handle, cudaGraphNodeTypeMemAlloc, [&](Device&, Node& node) {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    const warpcheck::vgpu::Allocation& allocation = *std::get<AllocateWork>(node.work).allocation;
    *parameters = {};
    parameters->poolProps.allocType = cudaMemAllocationTypePinned;
    parameters->poolProps.location.type = cudaMemLocationTypeDevice;
    parameters->bytesize = allocation.bytes;
    parameters->dptr = reinterpret_cast<void*>(allocation.address);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                    const cudaGraphNode_t* after, size_t count, void* pointer) {
  return add_node(
      {node, graph, after, count}, cudaGraphNodeTypeMemFree, [&](Device& device, Node& made) {
        warpcheck::vgpu::Allocation* const found = device.allocations().find(pointer);
        const bool is_ours = found != nullptr &&
                             found->address == reinterpret_cast<std::uint64_t>(pointer) &&
                             device.allocations().of_graphs().has(*found);
        if (!is_ours) return cudaErrorInvalidValue;
        made.work = FreeWork{found};
        return cudaSuccess;
      });
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t handle, void* pointer) {
  return with_node(handle, cudaGraphNodeTypeMemFree, [&](Device&, Node& node) {
    if (pointer == nullptr) return cudaErrorInvalidValue;
    const std::uint64_t address = std::get<FreeWork>(node.work).allocation->address;
    std::memcpy(pointer, &address, sizeof address);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int number, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return answer([&](Device& device) {
    if (number != 0) return cudaErrorInvalidDevice;
    const int which = number_of(attribute);
    if (value == nullptr || which < cudaGraphMemAttrUsedMemCurrent ||
        which > cudaGraphMemAttrReservedMemHigh) {
      return cudaErrorInvalidValue;
    }
    const GraphMemory& memory = device.allocations().of_graphs();
    // What was ever made is kept: reserved, and used at most.
    const std::uint64_t bytes =
        which == cudaGraphMemAttrUsedMemCurrent ? memory.used_bytes() : memory.reserved_bytes();
    std::memcpy(value, &bytes, sizeof bytes);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGraphMemTrim(int number) {
  return answer([&](Device&) { return number == 0 ? cudaSuccess : cudaErrorInvalidDevice; });
}

}  // extern "C"
