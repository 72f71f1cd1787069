// Graph nodes that the driver API describes by its own structures.
#include <cuda.h>

#include <string>
#include <string_view>

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

//   Made: cudaMemsetParams, or with more members
template <typename Made = cudaMemsetParams>
Made fill_of(const auto& wanted) {
  Made made{};
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

// Runs `body(parameters)` for a node of any kind, in the runtime's form.
//   call: the function, for a kind that is not supported
template <typename Body>
CUresult with_any_node(std::string_view call, const CUgraphNodeParams* wanted, Body&& body) {
  if (wanted == nullptr) return fail(CUDA_ERROR_INVALID_VALUE);
  cudaGraphNodeParams made{};
  made.type = static_cast<cudaGraphNodeType>(wanted->type);
  switch (number_of(wanted->type)) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      return in_context([&] {
        return with_kernel_parameters(&wanted->kernel, [&](const cudaKernelNodeParams& kernel) {
          made.kernel = {kernel.func,           kernel.gridDim,      kernel.blockDim,
                         kernel.sharedMemBytes, kernel.kernelParams, nullptr};
          return body(made);
        });
      });
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return with_copy(&wanted->memcpy.copyParams, [&](const cudaMemcpy3DParms& copy) {
        made.memcpy.copyParams = copy;
        return body(made);
      });
    case CU_GRAPH_NODE_TYPE_MEMSET:
      made.memset = fill_of<cudaMemsetParamsV2>(wanted->memset);
      break;
    case CU_GRAPH_NODE_TYPE_HOST: made.host = {wanted->host.fn, wanted->host.userData}; break;
    case CU_GRAPH_NODE_TYPE_GRAPH: made.graph.graph = wanted->graph.graph; break;
    case CU_GRAPH_NODE_TYPE_EMPTY: break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: made.eventWait.event = wanted->eventWait.event; break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: made.eventRecord.event = wanted->eventRecord.event; break;
    default: return result_of(not_supported(std::string(call) + " of this kind of node"));
  }
  return in_context([&] { return body(made); });
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

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                           const CUgraphEdgeData* data, size_t count, CUgraphNodeParams* wanted) {
  if (wanted != nullptr && data != nullptr) {
    return result_of(not_supported("cuGraphAddNode with data of edges"));
  }
  if (wanted != nullptr && number_of(wanted->type) == CU_GRAPH_NODE_TYPE_MEM_FREE) {
    return cuGraphAddMemFreeNode(node, graph, after, count, wanted->free.dptr);
  }
  return with_any_node("cuGraphAddNode", wanted, [&](cudaGraphNodeParams& made) {
    return cudaGraphAddNode(node, graph, after, nullptr, count, &made);
  });
}
CUresult virtual_cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* after,
                                size_t count, CUgraphNodeParams* wanted) {
  return cuGraphAddNode_v2(node, graph, after, nullptr, count, wanted);
}
CUresult cuGraphNodeSetParams(CUgraphNode node, CUgraphNodeParams* wanted) {
  return with_any_node("cuGraphNodeSetParams", wanted, [&](cudaGraphNodeParams& made) {
    return cudaGraphNodeSetParams(node, &made);
  });
}
CUresult cuGraphExecNodeSetParams(CUgraphExec executable, CUgraphNode node,
                                  CUgraphNodeParams* wanted) {
  return with_any_node("cuGraphExecNodeSetParams", wanted, [&](cudaGraphNodeParams& made) {
    return cudaGraphExecNodeSetParams(executable, node, &made);
  });
}

}  // extern "C"
