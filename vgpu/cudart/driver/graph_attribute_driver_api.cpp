// Attributes of graph nodes, handles of conditional nodes, and user objects of the driver API.
#include <cuda.h>

#include "vgpu/cudart/driver/driver_call.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

static_assert(sizeof(CUlaunchAttributeValue) == sizeof(cudaLaunchAttributeValue));

cudaLaunchAttributeID id_of(CUkernelNodeAttrID id) {
  return static_cast<cudaLaunchAttributeID>(number_of(id));
}

}  // namespace

extern "C" {

CUresult cuGraphKernelNodeSetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                       const CUkernelNodeAttrValue* value) {
  return after_init([&] {
    return cudaGraphKernelNodeSetAttribute(
        node, id_of(id), reinterpret_cast<const cudaLaunchAttributeValue*>(value));
  });
}

CUresult cuGraphKernelNodeGetAttribute(CUgraphNode node, CUkernelNodeAttrID id,
                                       CUkernelNodeAttrValue* value) {
  return after_init([&] {
    return cudaGraphKernelNodeGetAttribute(node, id_of(id),
                                           reinterpret_cast<cudaLaunchAttributeValue*>(value));
  });
}

CUresult cuGraphKernelNodeCopyAttributes(CUgraphNode target, CUgraphNode source) {
  return after_init([&] { return cudaGraphKernelNodeCopyAttributes(target, source); });
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

CUresult cuGraphDebugDotPrint(CUgraph graph, const char* path, unsigned flags) {
  return after_init([&] { return cudaGraphDebugDotPrint(graph, path, flags); });
}

CUresult cuUserObjectCreate(CUuserObject* object, void* pointer, CUhostFn destroy, unsigned count,
                            unsigned flags) {
  return after_init([&] { return cudaUserObjectCreate(object, pointer, destroy, count, flags); });
}

CUresult cuUserObjectRetain(CUuserObject object, unsigned count) {
  return after_init([&] { return cudaUserObjectRetain(object, count); });
}

CUresult cuUserObjectRelease(CUuserObject object, unsigned count) {
  return after_init([&] { return cudaUserObjectRelease(object, count); });
}

CUresult cuGraphRetainUserObject(CUgraph graph, CUuserObject object, unsigned count,
                                 unsigned flags) {
  return after_init([&] { return cudaGraphRetainUserObject(graph, object, count, flags); });
}

CUresult cuGraphReleaseUserObject(CUgraph graph, CUuserObject object, unsigned count) {
  return after_init([&] { return cudaGraphReleaseUserObject(graph, object, count); });
}

}  // extern "C"
