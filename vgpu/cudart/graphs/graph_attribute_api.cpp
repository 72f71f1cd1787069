// Graphs: attributes of kernel nodes, user objects that graphs keep alive, and DOT files.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <memory>
#include <string>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/cudart/graphs/graph_nodes.hpp"
#include "vgpu/cudart/host_watch/host_watch.hpp"
#include "vgpu/cudart/memory/access_policy.hpp"
#include "vgpu/cudart/streams/host_functions.hpp"

namespace warpcheck::cudart {

cudaError_t end_objects(Device& device) {
  for (const HostWork& work : std::exchange(device.graphs().to_end, {})) {
    call_host_function(work, device.system().mutex(), InHostFunction::kOfNoOperation);
  }
  return cudaSuccess;
}

namespace {

template <typename Body>
cudaError_t with_object(cudaUserObject_t handle, unsigned count, Body&& body) {
  return answer([&](Device& device) {
    const auto found = device.graphs().objects.find(handle);
    if (found == device.graphs().objects.end() || count == 0) return cudaErrorInvalidValue;
    const cudaError_t error = body(device, found->second);
    if (found->second.references == 0) device.graphs().objects.erase(found);
    end_objects(device);
    return error;
  });
}

// nullptr: its kernel is a library function.
KernelWork* kernel_of(Node& node) { return std::get_if<KernelWork>(&node.work); }

const char* name_of(cudaGraphNodeType type) {
  switch (number_of(type)) {
    case cudaGraphNodeTypeKernel: return "KERNEL";
    case cudaGraphNodeTypeMemcpy: return "MEMCPY";
    case cudaGraphNodeTypeMemset: return "MEMSET";
    case cudaGraphNodeTypeHost: return "HOST";
    case cudaGraphNodeTypeGraph: return "GRAPH";
    case cudaGraphNodeTypeWaitEvent: return "EVENT_WAIT";
    case cudaGraphNodeTypeEventRecord: return "EVENT_RECORD";
    case cudaGraphNodeTypeMemAlloc: return "MEM_ALLOC";
    case cudaGraphNodeTypeMemFree: return "MEM_FREE";
    case cudaGraphNodeTypeConditional: return "CONDITIONAL";
    default: return "EMPTY";
  }
}

// Graphs are numbered in the order of their visit, and nodes in the order of creation, so that
// texts can be compared.
void draw(std::ofstream& file, const Graph& graph, unsigned& graphs) {
  const unsigned number = graphs++;
  file << fmt::format("subgraph cluster_{} {{\nlabel=\"graph_{}\"\n", number, number);
  std::map<const Node*, std::string> names;
  for (const auto& node : graph.nodes) {
    std::string& name = names[node.get()];
    name = fmt::format("graph_{}_node_{}", number, names.size() - 1);
    const auto* const kernel = std::get_if<KernelWork>(&node->work);
    const std::string what = kernel == nullptr ? "" : "\\n" + kernel->kernel->name;
    file << fmt::format("\"{}\" [label=\"{}{}\"]\n", name, name_of(node->type), what);
    for (const Graph* const inner : node->inner_graphs()) draw(file, *inner, graphs);
  }
  for (const auto& node : graph.nodes) {
    for (const Node* const earlier : node->after) {
      file << fmt::format("\"{}\" -> \"{}\"\n", names[earlier], names[node.get()]);
    }
  }
  file << "}\n";
}

}  // namespace
}  // namespace warpcheck::cudart

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

extern "C" {

// ---- attributes of kernel nodes ----

cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t handle, cudaLaunchAttributeID attribute,
                                            const cudaLaunchAttributeValue* value) {
  return with_node(handle, cudaGraphNodeTypeKernel, [&](Device&, Node& node) {
    if (value == nullptr) return cudaErrorInvalidValue;
    switch (number_of(attribute)) {
      case cudaLaunchAttributeAccessPolicyWindow:
        if (!is_window(value->accessPolicyWindow)) return cudaErrorInvalidValue;
        break;
      case cudaLaunchAttributeCooperative:
        if (kernel_of(node) == nullptr) return cudaErrorInvalidValue;
        kernel_of(node)->cooperative = value->cooperative != 0;
        break;
      case cudaLaunchAttributePriority:
      case cudaLaunchAttributeMemSyncDomainMap:
      case cudaLaunchAttributeMemSyncDomain:
      case cudaLaunchAttributeClusterSchedulingPolicyPreference: break;
      default:
        throw warpcheck::vgpu::Refusal(
            fmt::format("cudaGraphKernelNodeSetAttribute: launch attribute {} is not supported",
                        number_of(attribute)));
    }
    node.attributes[number_of(attribute)] = *value;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t handle, cudaLaunchAttributeID attribute,
                                            cudaLaunchAttributeValue* value) {
  return with_node(handle, cudaGraphNodeTypeKernel, [&](Device&, Node& node) {
    if (value == nullptr) return cudaErrorInvalidValue;
    *value = {};
    const auto set = node.attributes.find(number_of(attribute));
    if (set != node.attributes.end()) {
      *value = set->second;
    } else if (number_of(attribute) == cudaLaunchAttributeCooperative) {
      value->cooperative = kernel_of(node) != nullptr && kernel_of(node)->cooperative ? 1 : 0;
    }
    return cudaSuccess;
  });
}

cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t target, cudaGraphNode_t source) {
  return with_node(target, cudaGraphNodeTypeKernel, [&](Device& device, Node& node) {
    Node* const other = device.graphs().find(source);
    if (other == nullptr || number_of(other->type) != cudaGraphNodeTypeKernel) {
      return cudaErrorInvalidValue;
    }
    node.attributes = other->attributes;
    if (kernel_of(node) != nullptr && kernel_of(*other) != nullptr) {
      kernel_of(node)->cooperative = kernel_of(*other)->cooperative;
    }
    return cudaSuccess;
  });
}

// ---- user objects ----

cudaError_t cudaUserObjectCreate(cudaUserObject_t* handle, void* pointer, cudaHostFn_t destroy,
                                 unsigned references, unsigned flags) {
  return answer([&](Device& device) {
    if (handle == nullptr || destroy == nullptr || references == 0 ||
        flags != cudaUserObjectNoDestructorSync) {
      return cudaErrorInvalidValue;
    }
    HostWork work;
    work.function = destroy;
    work.argument = pointer;
    auto held = std::make_shared<HeldObject>(work, device.graphs().to_end);
    *handle = reinterpret_cast<cudaUserObject_t>(held.get());
    device.graphs().objects[*handle] = {std::move(held), references};
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t handle, unsigned count) {
  return with_object(handle, count, [&](Device&, UserObject& object) {
    object.references += count;
    return cudaSuccess;
  });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t handle, unsigned count) {
  return with_object(handle, count, [&](Device&, UserObject& object) {
    if (count > object.references) return cudaErrorInvalidValue;
    object.references -= count;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t handle, unsigned count,
                                      unsigned flags) {
  return with_object(handle, count, [&](Device& device, UserObject& object) {
    Graph* const found = device.graphs().find(graph);
    if (found == nullptr || (flags & ~unsigned{cudaGraphUserObjectMove}) != 0) {
      return cudaErrorInvalidValue;
    }
    if (flags == cudaGraphUserObjectMove) {
      if (count > object.references) return cudaErrorInvalidValue;
      object.references -= count;
    }
    found->objects.insert(found->objects.end(), count, object.held);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t handle, unsigned count) {
  return answer([&](Device& device) {
    Graph* const found = device.graphs().find(graph);
    if (found == nullptr || count == 0) return cudaErrorInvalidValue;
    const auto is_it = [&](const std::shared_ptr<HeldObject>& one) {
      return reinterpret_cast<cudaUserObject_t>(one.get()) == handle;
    };
    if (static_cast<std::size_t>(std::ranges::count_if(found->objects, is_it)) < count) {
      return cudaErrorInvalidValue;
    }
    for (unsigned i = 0; i < count; ++i) {
      found->objects.erase(std::ranges::find_if(found->objects, is_it));
    }
    return end_objects(device);
  });
}

// ---- DOT files ----

cudaError_t cudaGraphDebugDotPrint(cudaGraph_t graph, const char* path, unsigned) {
  return answer([&](Device& device) {
    const Graph* const found = device.graphs().find(graph);
    if (found == nullptr || path == nullptr) return cudaErrorInvalidValue;
    std::ofstream file(path);
    unsigned graphs = 0;
    file << "digraph dot {\n";
    draw(file, *found, graphs);
    file << "}\n";
    return file ? cudaSuccess : cudaErrorOperatingSystem;
  });
}

}  // extern "C"
