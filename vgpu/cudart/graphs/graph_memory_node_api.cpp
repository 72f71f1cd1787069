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

cudaError_t set_copy(Device& device, const cudaMemcpy3DParms* given, Node& node) {
  return copy_work(device, given, node.work);
}

cudaError_t get_copy(Node& node, cudaMemcpy3DParms* parameters) {
  return write_result(parameters, parameters_of(std::get<CopyWork>(node.work)));
}

cudaError_t set_fill(Device& device, const cudaMemsetParams* given, Node& node) {
  return given == nullptr ? cudaErrorInvalidValue : fill_work(device, *given, node.work);
}

cudaError_t get_fill(Node& node, cudaMemsetParams* parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  const auto& work = std::get<FillWork>(node.work);
  *parameters = {work.target.pointer,
                 work.target.pitch,
                 work.value,
                 work.element_bytes,
                 work.box.width / work.element_bytes,
                 work.box.height};
  return cudaSuccess;
}

cudaError_t set_allocation(Device& device, cudaMemAllocNodeParams* parameters, Node& node) {
  if (parameters == nullptr || parameters->bytesize == 0) return cudaErrorInvalidValue;
  parameters->dptr = allocate_in_graph(device.allocations(), "cudaGraphAddMemAllocNode",
                                       parameters->bytesize, node.work);
  return parameters->dptr != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t get_allocation(Node& node, cudaMemAllocNodeParams* parameters) {
  if (parameters == nullptr) return cudaErrorInvalidValue;
  const vgpu::Allocation& allocation = *std::get<AllocateWork>(node.work).allocation;
  *parameters = {};
  parameters->poolProps.allocType = cudaMemAllocationTypePinned;
  parameters->poolProps.location.type = cudaMemLocationTypeDevice;
  parameters->bytesize = allocation.bytes;
  parameters->dptr = reinterpret_cast<void*>(allocation.address);
  return cudaSuccess;
}

cudaError_t set_free(Device& device, void* pointer, Node& node) {
  vgpu::Allocation* const found = device.allocations().find(pointer);
  const bool is_ours = found != nullptr &&
                       found->address == reinterpret_cast<std::uint64_t>(pointer) &&
                       device.allocations().of_graphs().has(*found);
  if (!is_ours) return cudaErrorInvalidValue;
  device.findings().mishaps().free_requested(*found);
  node.work = FreeWork{"cudaGraphAddMemFreeNode", found};
  return cudaSuccess;
}

cudaError_t get_free(Node& node, void* pointer) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  const std::uint64_t address = std::get<FreeWork>(node.work).allocation->address;
  std::memcpy(pointer, &address, sizeof address);
  return cudaSuccess;
}

}  // namespace warpcheck::cudart

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

extern "C" {

// ---- copies that are described by four parameters ----

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph,
                                     const cudaGraphNode_t* after, size_t count, void* target,
                                     const void* source, size_t bytes, cudaMemcpyKind kind) {
  return add_node({node, graph, after, count}, cudaGraphNodeTypeMemcpy,
                  [&](Device& device, Node& made) {
                    return copy_work(device, target, source, bytes, number_of(kind), made.work);
                  });
}

cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t handle, void* target, const void* source,
                                           size_t bytes, cudaMemcpyKind kind) {
  return with_node(handle, cudaGraphNodeTypeMemcpy, [&](Device& device, Node& node) {
    return copy_work(device, target, source, bytes, number_of(kind), node.work);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t executable, cudaGraphNode_t handle,
                                               void* target, const void* source, size_t bytes,
                                               cudaMemcpyKind kind) {
  return with_node(executable, handle, cudaGraphNodeTypeMemcpy, [&](Device& device, Node& node) {
    return copy_work(device, target, source, bytes, number_of(kind), node.work);
  });
}

// ---- memory of all graphs ----

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
