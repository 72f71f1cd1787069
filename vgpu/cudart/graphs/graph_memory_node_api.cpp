// The nodes of graphs that move, allocate and free memory.
#include <cuda_runtime_api.h>

#include <cstring>
#include <utility>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/copies/copies.hpp"
#include "vgpu/cudart/graphs/graph_nodes.hpp"
#include "vgpu/cudart/graphs/graphs.hpp"

namespace warpcheck::cudart {

cudaError_t copy_work(Device& device, const cudaMemcpy3DParms* given, Work& work) {
  CopyWork copy;
  copy.call = "cudaGraphAddMemcpyNode";
  cudaError_t error = describe_copy(device, given, copy);
  if (error == cudaSuccess) error = prepare(device, copy);
  if (error == cudaSuccess) work = std::move(copy);
  return error;
}

namespace {

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

// ---- memory ----

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count,
                                     cudaMemAllocNodeParams* parameters) {
  return add_node(
      {node, graph, after, count}, cudaGraphNodeTypeMemAlloc, [&](Device& device, Node& made) {
        if (parameters == nullptr || parameters->bytesize == 0) {
          return cudaErrorInvalidValue;
        }
        parameters->dptr = allocate_in_graph(device.allocations(), "cudaGraphAddMemAllocNode",
                                             parameters->bytesize, made.work);
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
        made.work = FreeWork{"cudaGraphAddMemFreeNode", found};
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
    if (!device.exists(number)) return cudaErrorInvalidDevice;
    const int which = number_of(attribute);
    if (value == nullptr || which < cudaGraphMemAttrUsedMemCurrent ||
        which > cudaGraphMemAttrReservedMemHigh) {
      return cudaErrorInvalidValue;
    }
    const GraphMemory& memory = device.allocations().of_graphs();
    // Memory is never released, so the totals are also the maxima.
    const std::uint64_t bytes =
        which == cudaGraphMemAttrUsedMemCurrent ? memory.used_bytes() : memory.reserved_bytes();
    std::memcpy(value, &bytes, sizeof bytes);
    return cudaSuccess;
  });
}

// Resets the maxima to the current values, which are always equal here.
cudaError_t cudaDeviceSetGraphMemAttribute(int number, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return answer([&](Device& device) {
    if (!device.exists(number)) return cudaErrorInvalidDevice;
    const int which = number_of(attribute);
    std::uint64_t bytes = 0;
    if (value != nullptr) std::memcpy(&bytes, value, sizeof bytes);
    const bool is_highest =
        which == cudaGraphMemAttrUsedMemHigh || which == cudaGraphMemAttrReservedMemHigh;
    return value != nullptr && is_highest && bytes == 0 ? cudaSuccess : cudaErrorInvalidValue;
  });
}

cudaError_t cudaDeviceGraphMemTrim(int number) {
  return answer(
      [&](Device& device) { return device.exists(number) ? cudaSuccess : cudaErrorInvalidDevice; });
}

}  // extern "C"
