// __device__ and __constant__ variables, identified by their shadow variables in host code.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <utility>

#include "vgpu/check/bounds.hpp"
#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/api/calls/call_place.hpp"
#include "vgpu/cudart/code/device_code.hpp"
#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/cudart/copies/copies.hpp"
#include "vgpu/cudart/graphs/graph_nodes.hpp"

namespace warpcheck::cudart {
namespace {

struct PlacedSymbol {
  cudaError_t error = cudaErrorInvalidSymbol;
  vgpu::Allocation* place = nullptr;
};

// Returns the variable in the running build.
PlacedSymbol find(Device& device, const void* shadow) {
  const Symbol* const symbol = Registry::instance().find_symbol(shadow);
  if (symbol == nullptr) return {};
  DeviceCode& code = symbol->unit->code(device.trial(), device.allocations(), symbol->name);
  vgpu::Allocation* const place = code.variable(symbol->name, device.allocations());
  if (place == nullptr) {
    throw vgpu::Refusal(
        fmt::format("variable {} is not in the PTX of its translation unit", symbol->name));
  }
  return {cudaSuccess, place};
}

bool is_one_of(int kind, int wanted) {
  return kind == wanted || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

// Sets *address to the address of `bytes` at `offset` of the symbol.
cudaError_t locate(Device& device, std::string_view call, const void* shadow, std::size_t bytes,
                   std::size_t offset, bool write, void** address) {
  const PlacedSymbol symbol = find(device, shadow);
  if (symbol.error != cudaSuccess) return symbol.error;
  const std::uint64_t start = symbol.place->address + offset;
  if (offset > symbol.place->bytes || bytes > symbol.place->bytes - offset) {
    device.findings().add(vgpu::host_copy_out_of_bounds(call, write, start, bytes, symbol.place));
    return cudaErrorInvalidValue;
  }
  *address = reinterpret_cast<void*>(start);
  return cudaSuccess;
}

cudaError_t copy_to_symbol(Device& device, std::string_view call, const void* shadow,
                           const void* source, std::size_t bytes, std::size_t offset, int kind,
                           Stream& stream, Waiting waiting) {
  if (!is_one_of(kind, cudaMemcpyHostToDevice)) return cudaErrorInvalidMemcpyDirection;
  void* target = nullptr;
  const cudaError_t error = locate(device, call, shadow, bytes, offset, true, &target);
  if (error != cudaSuccess) return error;
  return copy(device, call, {target}, {const_cast<void*>(source)}, {bytes}, kind, stream, waiting);
}

cudaError_t copy_from_symbol(Device& device, std::string_view call, void* target,
                             const void* shadow, std::size_t bytes, std::size_t offset, int kind,
                             Stream& stream, Waiting waiting) {
  if (!is_one_of(kind, cudaMemcpyDeviceToHost)) return cudaErrorInvalidMemcpyDirection;
  void* source = nullptr;
  const cudaError_t error = locate(device, call, shadow, bytes, offset, false, &source);
  if (error != cudaSuccess) return error;
  return copy(device, call, {target}, {source}, {bytes}, kind, stream, waiting);
}

// A copy to or from a variable, for a graph node.
struct SymbolCopy {
  const void* shadow = nullptr;
  std::size_t bytes = 0, offset = 0;
  int kind = cudaMemcpyDefault;

  cudaError_t to(Device& device, const void* source, Work& work) const {
    if (!is_one_of(kind, cudaMemcpyHostToDevice)) return cudaErrorInvalidMemcpyDirection;
    CopyWork copy;
    copy.call = "cudaGraphAddMemcpyNodeToSymbol";
    copy.source = {const_cast<void*>(source)};
    return make(device, true, copy, copy.target, work);
  }
  cudaError_t from(Device& device, void* target, Work& work) const {
    if (!is_one_of(kind, cudaMemcpyDeviceToHost)) return cudaErrorInvalidMemcpyDirection;
    CopyWork copy;
    copy.call = "cudaGraphAddMemcpyNodeFromSymbol";
    copy.target = {target};
    return make(device, false, copy, copy.source, work);
  }

 private:
  cudaError_t make(Device& device, bool write, CopyWork& copy, Place& symbol, Work& work) const {
    cudaError_t error = locate(device, copy.call, shadow, bytes, offset, write, &symbol.pointer);
    if (error != cudaSuccess) return error;
    copy.box = {bytes};
    copy.kind = kind;
    error = prepare(device, copy);
    if (error == cudaSuccess) work = std::move(copy);
    return error;
  }
};

}  // namespace
}  // namespace warpcheck::cudart

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

extern "C" {

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* source, size_t bytes, size_t offset,
                               cudaMemcpyKind kind) {
  return on_stream("cudaMemcpyToSymbol", nullptr, [&](Device& device, Stream& stream) {
    return copy_to_symbol(device, "cudaMemcpyToSymbol", symbol, source, bytes, offset,
                          number_of(kind), stream, Waiting::until_done);
  });
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* source, size_t bytes,
                                    size_t offset, cudaMemcpyKind kind, cudaStream_t stream) {
  ask_for_program();
  return on_stream("cudaMemcpyToSymbolAsync", stream, [&](Device& device, Stream& found) {
    return copy_to_symbol(device, "cudaMemcpyToSymbolAsync", symbol, source, bytes, offset,
                          number_of(kind), found, Waiting::asynchronous);
  });
}

cudaError_t cudaMemcpyFromSymbol(void* target, const void* symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind kind) {
  return on_stream("cudaMemcpyFromSymbol", nullptr, [&](Device& device, Stream& stream) {
    return copy_from_symbol(device, "cudaMemcpyFromSymbol", target, symbol, bytes, offset,
                            number_of(kind), stream, Waiting::until_done);
  });
}

cudaError_t cudaMemcpyFromSymbolAsync(void* target, const void* symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  ask_for_program();
  return on_stream("cudaMemcpyFromSymbolAsync", stream, [&](Device& device, Stream& found) {
    return copy_from_symbol(device, "cudaMemcpyFromSymbolAsync", target, symbol, bytes, offset,
                            number_of(kind), found, Waiting::asynchronous);
  });
}

cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                           const cudaGraphNode_t* after, size_t count,
                                           const void* symbol, const void* source, size_t bytes,
                                           size_t offset, cudaMemcpyKind kind) {
  return add_node(
      {node, graph, after, count}, cudaGraphNodeTypeMemcpy, [&](Device& device, Node& made) {
        return SymbolCopy{symbol, bytes, offset, number_of(kind)}.to(device, source, made.work);
      });
}

cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t* node, cudaGraph_t graph,
                                             const cudaGraphNode_t* after, size_t count,
                                             void* target, const void* symbol, size_t bytes,
                                             size_t offset, cudaMemcpyKind kind) {
  return add_node(
      {node, graph, after, count}, cudaGraphNodeTypeMemcpy, [&](Device& device, Node& made) {
        return SymbolCopy{symbol, bytes, offset, number_of(kind)}.from(device, target, made.work);
      });
}

cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t handle, const void* symbol,
                                                 const void* source, size_t bytes, size_t offset,
                                                 cudaMemcpyKind kind) {
  return with_node(handle, cudaGraphNodeTypeMemcpy, [&](Device& device, Node& node) {
    return SymbolCopy{symbol, bytes, offset, number_of(kind)}.to(device, source, node.work);
  });
}

cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t handle, void* target,
                                                   const void* symbol, size_t bytes, size_t offset,
                                                   cudaMemcpyKind kind) {
  return with_node(handle, cudaGraphNodeTypeMemcpy, [&](Device& device, Node& node) {
    return SymbolCopy{symbol, bytes, offset, number_of(kind)}.from(device, target, node.work);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t executable,
                                                     cudaGraphNode_t handle, const void* symbol,
                                                     const void* source, size_t bytes,
                                                     size_t offset, cudaMemcpyKind kind) {
  return with_node(executable, handle, cudaGraphNodeTypeMemcpy, [&](Device& device, Node& node) {
    return SymbolCopy{symbol, bytes, offset, number_of(kind)}.to(device, source, node.work);
  });
}

cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t executable,
                                                       cudaGraphNode_t handle, void* target,
                                                       const void* symbol, size_t bytes,
                                                       size_t offset, cudaMemcpyKind kind) {
  return with_node(executable, handle, cudaGraphNodeTypeMemcpy, [&](Device& device, Node& node) {
    return SymbolCopy{symbol, bytes, offset, number_of(kind)}.from(device, target, node.work);
  });
}

cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  return answer([&](Device& device) {
    if (address == nullptr) return cudaErrorInvalidValue;
    return locate(device, "cudaGetSymbolAddress", symbol, 0, 0, false, address);
  });
}

cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  return answer([&](Device& device) {
    if (bytes == nullptr) return cudaErrorInvalidValue;
    const PlacedSymbol placed = find(device, symbol);
    if (placed.error == cudaSuccess) *bytes = placed.place->bytes;
    return placed.error;
  });
}

}  // extern "C"
