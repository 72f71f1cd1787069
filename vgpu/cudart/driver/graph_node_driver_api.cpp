// Graph nodes that the driver API describes by its own structures.
#include <cuda.h>

#include <cstring>

#include "vgpu/cudart/driver/array_descriptions.hpp"
#include "vgpu/cudart/driver/driver_call.hpp"
#include "vgpu/cudart/driver/launch_arguments.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

// Runs `body(parameters)`, with the arguments of a kernel node in the runtime's form.
template <typename Params, typename Body>
cudaError_t with_kernel_parameters(const Params* wanted, Body&& body) {
  if (wanted == nullptr) return fail(cudaErrorInvalidValue);
  CUfunction function = wanted->func;
  if constexpr (requires { wanted->kern; }) {
    if (function == nullptr) function = reinterpret_cast<CUfunction>(wanted->kern);
  }
  LaunchArguments arguments(function, wanted->kernelParams, wanted->extra);
  if (const cudaError_t error = arguments.read()) return error;
  cudaKernelNodeParams made{};
  made.func = function;
  made.gridDim = {wanted->gridDimX, wanted->gridDimY, wanted->gridDimZ};
  made.blockDim = {wanted->blockDimX, wanted->blockDimY, wanted->blockDimZ};
  made.sharedMemBytes = wanted->sharedMemBytes;
  made.kernelParams = arguments.get();
  return body(made);
}

template <typename Params>
CUresult get_kernel_parameters(CUgraphNode node, Params* parameters) {
  return after_init([&] {
    cudaKernelNodeParams known{};
    if (parameters == nullptr) return fail(cudaErrorInvalidValue);
    if (const cudaError_t error = cudaGraphKernelNodeGetParams(node, &known)) return error;
    *parameters = {};
    parameters->func = static_cast<CUfunction>(known.func);
    parameters->gridDimX = known.gridDim.x;
    parameters->gridDimY = known.gridDim.y;
    parameters->gridDimZ = known.gridDim.z;
    parameters->blockDimX = known.blockDim.x;
    parameters->blockDimY = known.blockDim.y;
    parameters->blockDimZ = known.blockDim.z;
    parameters->sharedMemBytes = known.sharedMemBytes;
    parameters->kernelParams = known.kernelParams;
    return cudaSuccess;
  });
}

template <typename Params>
CUresult add_kernel(CUgraphNode* node, CUgraph graph, const CUgraphNode* after, size_t count,
                    const Params* wanted) {
  return in_context([&] {
    return with_kernel_parameters(wanted, [&](const cudaKernelNodeParams& parameters) {
      return cudaGraphAddKernelNode(node, graph, after, count, &parameters);
    });
  });
}

template <typename Params>
CUresult set_kernel(CUgraphNode node, const Params* wanted) {
  return in_context([&] {
    return with_kernel_parameters(wanted, [&](const cudaKernelNodeParams& parameters) {
      return cudaGraphKernelNodeSetParams(node, &parameters);
    });
  });
}

template <typename Params>
CUresult set_kernel(CUgraphExec made, CUgraphNode node, const Params* wanted) {
  return in_context([&] {
    return with_kernel_parameters(wanted, [&](const cudaKernelNodeParams& parameters) {
      return cudaGraphExecKernelNodeSetParams(made, node, &parameters);
    });
  });
}

// Runs `body(parameters)` for a copy.
template <typename Body>
CUresult with_copy(const CUDA_MEMCPY3D* wanted, Body&& body) {
  return in_context([&] {
    if (wanted == nullptr) return fail(cudaErrorInvalidValue);
    const auto parameters = parameters_of(*wanted);
    return parameters ? body(*parameters) : fail(cudaErrorInvalidValue);
  });
}

cudaMemsetParams fill_of(const CUDA_MEMSET_NODE_PARAMS& wanted) {
  cudaMemsetParams made{};
  made.dst = to_pointer(wanted.dst);
  made.pitch = wanted.pitch;
  made.value = wanted.value;
  made.elementSize = wanted.elementSize;
  made.width = wanted.width;
  made.height = wanted.height;
  return made;
}

template <typename Body>
CUresult with_fill(const CUDA_MEMSET_NODE_PARAMS* wanted, Body&& body) {
  return in_context([&] {
    if (wanted == nullptr) return fail(cudaErrorInvalidValue);
    return body(fill_of(*wanted));
  });
}

}  // namespace

extern "C" {

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                 size_t count, const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return add_kernel(node, graph, after, count, parameters);
}
CUresult virtual_cuGraphAddKernelNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                      size_t count, const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return add_kernel(node, graph, after, count, parameters);
}
CUresult cuGraphKernelNodeGetParams_v2(CUgraphNode node, CUDA_KERNEL_NODE_PARAMS* parameters) {
  return get_kernel_parameters(node, parameters);
}
CUresult virtual_cuGraphKernelNodeGetParams(CUgraphNode node,
                                            CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return get_kernel_parameters(node, parameters);
}
CUresult cuGraphKernelNodeSetParams_v2(CUgraphNode node,
                                       const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return set_kernel(node, parameters);
}
CUresult virtual_cuGraphKernelNodeSetParams(CUgraphNode node,
                                            const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return set_kernel(node, parameters);
}
CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec made, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS* parameters) {
  return set_kernel(made, node, parameters);
}
CUresult virtual_cuGraphExecKernelNodeSetParams(CUgraphExec made, CUgraphNode node,
                                                const CUDA_KERNEL_NODE_PARAMS_v1* parameters) {
  return set_kernel(made, node, parameters);
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              size_t count, const CUDA_MEMCPY3D* wanted, CUcontext) {
  return with_copy(wanted, [&](const cudaMemcpy3DParms& copy) {
    return cudaGraphAddMemcpyNode(node, graph, after, count, &copy);
  });
}
CUresult cuGraphMemcpyNodeSetParams(CUgraphNode node, const CUDA_MEMCPY3D* wanted) {
  return with_copy(wanted, [&](const cudaMemcpy3DParms& copy) {
    return cudaGraphMemcpyNodeSetParams(node, &copy);
  });
}
CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec made, CUgraphNode node,
                                        const CUDA_MEMCPY3D* wanted, CUcontext) {
  return with_copy(wanted, [&](const cudaMemcpy3DParms& copy) {
    return cudaGraphExecMemcpyNodeSetParams(made, node, &copy);
  });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                              size_t count, const CUDA_MEMSET_NODE_PARAMS* wanted, CUcontext) {
  return with_fill(wanted, [&](const cudaMemsetParams& fill) {
    return cudaGraphAddMemsetNode(node, graph, after, count, &fill);
  });
}
CUresult cuGraphMemsetNodeSetParams(CUgraphNode node, const CUDA_MEMSET_NODE_PARAMS* wanted) {
  return with_fill(wanted, [&](const cudaMemsetParams& fill) {
    return cudaGraphMemsetNodeSetParams(node, &fill);
  });
}
CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec made, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS* wanted, CUcontext) {
  return with_fill(wanted, [&](const cudaMemsetParams& fill) {
    return cudaGraphExecMemsetNodeSetParams(made, node, &fill);
  });
}
CUresult cuGraphMemsetNodeGetParams(CUgraphNode node, CUDA_MEMSET_NODE_PARAMS* parameters) {
  return after_init([&] {
    cudaMemsetParams known{};
    if (parameters == nullptr) return fail(cudaErrorInvalidValue);
    if (const cudaError_t error = cudaGraphMemsetNodeGetParams(node, &known)) return error;
    *parameters = {to_address(known.dst), known.pitch, known.value,
                   known.elementSize,     known.width, known.height};
    return cudaSuccess;
  });
}

// The type of the node selects one of the functions above.
CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                           const CUgraphEdgeData* data, size_t count, CUgraphNodeParams* wanted) {
  if (wanted == nullptr) return fail(CUDA_ERROR_INVALID_VALUE);
  if (data != nullptr) {
    return result_of(not_supported("cuGraphAddNode with data of edges"));
  }
  switch (number_of(wanted->type)) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return add_kernel(node, graph, after, count, &wanted->kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return cuGraphAddMemcpyNode(node, graph, after, count, &wanted->memcpy.copyParams, nullptr);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      const auto& fill = wanted->memset;
      const CUDA_MEMSET_NODE_PARAMS parameters{fill.dst,         fill.pitch, fill.value,
                                               fill.elementSize, fill.width, fill.height};
      return cuGraphAddMemsetNode(node, graph, after, count, &parameters, nullptr);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
      const CUDA_HOST_NODE_PARAMS parameters{wanted->host.fn, wanted->host.userData};
      return cuGraphAddHostNode(node, graph, after, count, &parameters);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
      return in_context([&] {
        return cudaGraphAddChildGraphNode(node, graph, after, count, wanted->graph.graph);
      });
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return in_context([&] { return cudaGraphAddEmptyNode(node, graph, after, count); });
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      return in_context([&] {
        return cudaGraphAddEventWaitNode(node, graph, after, count, wanted->eventWait.event);
      });
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      return in_context([&] {
        return cudaGraphAddEventRecordNode(node, graph, after, count, wanted->eventRecord.event);
      });
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return cuGraphAddMemFreeNode(node, graph, after, count, wanted->free.dptr);
    default: return result_of(not_supported("cuGraphAddNode of this kind of node"));
  }
}
CUresult virtual_cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                size_t count, CUgraphNodeParams* wanted) {
  return cuGraphAddNode_v2(node, graph, after, nullptr, count, wanted);
}

}  // extern "C"
