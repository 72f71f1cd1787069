// Functions on whole graphs: create, clone, query, instantiate, update, launch.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/graphs/graph_nodes.hpp"
#include "vgpu/cudart/graphs/graph_run.hpp"
#include "vgpu/cudart/graphs/graphs.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

template <typename Handle, typename Body>
cudaError_t with(Handle handle, Body&& body) {
  return answer([&](Device& device) {
    auto* const found = device.graphs().find(handle);
    if (found != nullptr) return body(device, *found);
    return device.errors().because(
        cudaErrorInvalidValue, "the handle is that of no graph or node: never made, or destroyed");
  });
}

// Returns a list in the API's way: the number of elements if `out` is null, otherwise up to *count
// elements, filled up with null.
template <typename T>
cudaError_t give(const std::vector<T>& list, T* out, std::size_t* count) {
  if (count == nullptr) return cudaErrorInvalidValue;
  if (out == nullptr) {
    *count = list.size();
    return cudaSuccess;
  }
  for (std::size_t i = 0; i < *count; ++i) out[i] = i < list.size() ? list[i] : T{};
  *count = std::min(*count, list.size());
  return cudaSuccess;
}

void give_edge_data(cudaGraphEdgeData* data, const std::size_t* count) {
  if (data != nullptr && count != nullptr) std::fill_n(data, *count, cudaGraphEdgeData{});
}

std::vector<cudaGraphNode_t> handles_of(const std::vector<Node*>& nodes) {
  std::vector<cudaGraphNode_t> handles;
  for (Node* const node : nodes) handles.push_back(handle_of(node));
  return handles;
}

// Returns a node that a graph cannot have if device code is to launch it; nullptr: it has none.
Node* not_for_device(const Graph& graph) {
  for (const auto& node : graph.nodes) {
    switch (number_of(node->type)) {
      case cudaGraphNodeTypeKernel:
      case cudaGraphNodeTypeMemset: continue;
      case cudaGraphNodeTypeMemcpy: {
        const auto* const copy = std::get_if<CopyWork>(&node->work);
        if (copy != nullptr && copy->target_in == Where::device && copy->source_in == Where::device)
          continue;
        return node.get();
      }
      case cudaGraphNodeTypeGraph:
        if (Node* const inner = not_for_device(*node->child)) return inner;
        continue;
      default: return node.get();
    }
  }
  return nullptr;
}

cudaError_t instantiate(Device& device, cudaGraphExec_t* handle, const Graph& graph,
                        unsigned long long flags) {
  if (handle == nullptr) return cudaErrorInvalidValue;
  if (graph.in_order().size() != graph.nodes.size())
    return device.errors().because(cudaErrorInvalidValue, "the edges of the graph form a cycle");
  if ((flags & cudaGraphInstantiateFlagDeviceLaunch) != 0) {
    if ((flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0) return cudaErrorInvalidValue;
    if (graph.nodes.empty() || not_for_device(graph) != nullptr) return cudaErrorInvalidValue;
  }
  auto executable = std::make_shared<ExecutableGraph>();
  executable->graph = graph.clone();
  executable->flags = flags;
  *handle = reinterpret_cast<cudaGraphExec_t>(executable.get());
  device.graphs().executable.emplace(*handle, std::move(executable));
  return cudaSuccess;
}

// Returns the first node of `next` without an equal node in `now`; nullptr: they have the same
// shape.
Node* first_difference(const Graph& now, const Graph& next, cudaGraphExecUpdateResult& result) {
  result = cudaGraphExecUpdateErrorTopologyChanged;
  for (std::size_t i = 0; i < next.nodes.size(); ++i) {
    Node* const after = next.nodes[i].get();
    if (i >= now.nodes.size()) return after;
    const Node* const before = now.nodes[i].get();
    if (before->type != after->type) {
      result = cudaGraphExecUpdateErrorNodeTypeChanged;
      return after;
    }
    if (before->after.size() != after->after.size()) return after;
    const auto position = [](const Graph& graph, const Node* node) {
      return std::ranges::find(graph.nodes, node, &std::unique_ptr<Node>::get) -
             graph.nodes.begin();
    };
    for (std::size_t j = 0; j < after->after.size(); ++j) {
      if (position(now, before->after[j]) != position(next, after->after[j])) return after;
    }
    if (before->child != nullptr) {
      if (Node* const inner = first_difference(*before->child, *after->child, result)) return inner;
    }
  }
  if (now.nodes.size() != next.nodes.size()) return now.nodes.back().get();
  result = cudaGraphExecUpdateSuccess;
  return nullptr;
}

// data: of the edges to be added; may be null.
cudaError_t change_edges(cudaGraph_t handle, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                         const cudaGraphEdgeData* data, std::size_t count, bool add) {
  return with(handle, [&](Device& device, Graph& graph) {
    if (count != 0 && (from == nullptr || to == nullptr)) return cudaErrorInvalidValue;
    for (std::size_t i = 0; i < count; ++i) {
      Node* const earlier = device.graphs().find(from[i]);
      Node* const later = device.graphs().find(to[i]);
      const auto fail_because = [&](std::string_view what) {
        return device.errors().because(cudaErrorInvalidValue, fmt::format("edge {} {}", i, what));
      };
      if (earlier == nullptr || later == nullptr || earlier->graph != &graph ||
          later->graph != &graph) {
        return fail_because("is not between nodes of the graph");
      }
      if (earlier == later) return fail_because("leads from a node to itself");
      const auto found = std::ranges::find(later->after, earlier);
      if ((found != later->after.end()) == add)
        return fail_because(add ? "exists already" : "does not exist");
      if (add) {
        later->after.push_back(earlier);
        if (data != nullptr) take_edge(*later, data[i]);
      } else {
        later->after.erase(found);
      }
    }
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* handle, unsigned flags) {
  return answer([&](Device& device) {
    if (handle == nullptr || flags != 0) return cudaErrorInvalidValue;
    auto graph = std::make_unique<Graph>();
    *handle = handle_of(graph.get());
    device.graphs().graphs.emplace(*handle, std::move(graph));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphDestroy(cudaGraph_t handle) {
  return answer([&](Device& device) {
    if (device.graphs().is_being_captured(handle)) return cudaErrorInvalidValue;
    if (device.graphs().graphs.erase(handle) == 0) return cudaErrorInvalidValue;
    return end_objects(device);
  });
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t handle) {
  return with(handle, [&](Device& device, Graph& graph) {
    if (clone == nullptr) return cudaErrorInvalidValue;
    auto made = graph.clone();
    *clone = handle_of(made.get());
    device.graphs().graphs.emplace(*clone, std::move(made));
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t* found, cudaGraphNode_t original,
                                     cudaGraph_t clone) {
  return with(clone, [&](Device&, Graph& graph) {
    Node* const node = graph.find_clone(reinterpret_cast<const Node*>(original));
    if (found == nullptr || node == nullptr) return cudaErrorInvalidValue;
    *found = handle_of(node);
    return cudaSuccess;
  });
}

cudaError_t cudaGraphGetNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  return with(handle, [&](Device&, Graph& graph) {
    std::vector<cudaGraphNode_t> all;
    for (const auto& node : graph.nodes) all.push_back(handle_of(node.get()));
    return give(all, nodes, count);
  });
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t handle, cudaGraphNode_t* nodes, size_t* count) {
  return with(handle, [&](Device&, Graph& graph) {
    std::vector<cudaGraphNode_t> roots;
    for (const auto& node : graph.nodes) {
      if (node->after.empty()) roots.push_back(handle_of(node.get()));
    }
    return give(roots, nodes, count);
  });
}

cudaError_t cudaGraphGetEdges(cudaGraph_t handle, cudaGraphNode_t* from, cudaGraphNode_t* to,
                              cudaGraphEdgeData* data, size_t* count) {
  return with(handle, [&](Device&, Graph& graph) {
    std::vector<cudaGraphNode_t> earlier, later;
    for (const auto& node : graph.nodes) {
      for (Node* const before : node->after) {
        earlier.push_back(handle_of(before));
        later.push_back(handle_of(node.get()));
      }
    }
    if ((from == nullptr) != (to == nullptr) || count == nullptr) return cudaErrorInvalidValue;
    std::size_t asked = *count;
    give(earlier, from, &asked);
    const cudaError_t error = give(later, to, count);
    give_edge_data(data, count);
    return error;
  });
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t handle, cudaGraphNode_t* nodes,
                                         cudaGraphEdgeData* data, size_t* count) {
  return with(handle, [&](Device&, Node& node) {
    const cudaError_t error = give(handles_of(node.after), nodes, count);
    if (nodes != nullptr) give_edge_data(data, count);
    return error;
  });
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t handle, cudaGraphNode_t* nodes,
                                           cudaGraphEdgeData* data, size_t* count) {
  return with(handle, [&](Device&, Node& node) {
    const cudaError_t error = give(handles_of(node.graph->dependents_of(node)), nodes, count);
    if (nodes != nullptr) give_edge_data(data, count);
    return error;
  });
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                     const cudaGraphNode_t* to, const cudaGraphEdgeData* data,
                                     size_t count) {
  return change_edges(graph, from, to, data, count, true);
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                        const cudaGraphNode_t* to, const cudaGraphEdgeData*,
                                        size_t count) {
  return change_edges(graph, from, to, nullptr, count, false);
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t handle) {
  return with(handle, [&](Device& device, Node& node) {
    Graph& graph = *node.graph;
    if (device.graphs().is_being_captured(handle_of(&graph))) return cudaErrorInvalidValue;
    for (Node* const later : graph.dependents_of(node)) std::erase(later->after, &node);
    std::erase_if(graph.nodes, [&](const auto& one) { return one.get() == &node; });
    return cudaSuccess;
  });
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t handle, cudaGraphNodeType* type) {
  return with(handle, [&](Device&, Node& node) { return write_result(type, node.type); });
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t handle,
                                 unsigned long long flags) {
  return with(handle, [&](Device& device, Graph& graph) {
    return instantiate(device, executable, graph, flags);
  });
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                          unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* executable, cudaGraph_t handle,
                                           cudaGraphInstantiateParams* parameters) {
  return with(handle, [&](Device& device, Graph& graph) {
    if (parameters == nullptr) return cudaErrorInvalidValue;
    const cudaError_t error = instantiate(device, executable, graph, parameters->flags);
    const bool is_for_device = (parameters->flags & cudaGraphInstantiateFlagDeviceLaunch) != 0;
    Node* const unfit = is_for_device ? not_for_device(graph) : nullptr;
    parameters->result_out = error == cudaSuccess ? cudaGraphInstantiateSuccess
                             : unfit == nullptr   ? cudaGraphInstantiateError
                                                  : cudaGraphInstantiateNodeOperationNotSupported;
    parameters->errNode_out = unfit == nullptr ? nullptr : handle_of(unfit);
    if (error == cudaSuccess && (parameters->flags & cudaGraphInstantiateFlagUpload) != 0) {
      device.graphs().find(*executable)->is_uploaded = true;
    }
    return error;
  });
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t handle) {
  return answer([&](Device& device) {
    if (device.graphs().executable.erase(handle) == 0) return cudaErrorInvalidValue;
    return end_objects(device);
  });
}

cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t handle, unsigned long long* flags) {
  return with(handle, [&](Device&, ExecutableGraph& executable) {
    return write_result(flags, executable.flags);
  });
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t handle, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo* info) {
  return with(handle, [&](Device& device, ExecutableGraph& executable) {
    const Graph* const next = device.graphs().find(graph);
    if (next == nullptr || info == nullptr) return cudaErrorInvalidValue;
    *info = {};
    Node* const different = first_difference(*executable.graph, *next, info->result);
    info->errorNode = handle_of(different);
    if (different != nullptr) return cudaErrorGraphExecUpdateFailure;
    // Nodes are still identified by those of the instantiated graph.
    auto updated = next->clone();
    for (std::size_t i = 0; i < updated->nodes.size(); ++i) {
      updated->nodes[i]->original = executable.graph->nodes[i]->original;
    }
    executable.graph = std::move(updated);
    executable.is_uploaded = false;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphUpload(cudaGraphExec_t handle, cudaStream_t stream) {
  return with(handle, [&](Device& device, ExecutableGraph& executable) {
    if (device.execution().find_stream("cudaGraphUpload", stream) == nullptr) {
      return cudaErrorInvalidResourceHandle;
    }
    executable.is_uploaded = true;
    return cudaSuccess;
  });
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t handle, cudaStream_t stream) {
  return with(handle, [&](Device& device, ExecutableGraph& executable) {
    Stream* const found = device.execution().find_stream("cudaGraphLaunch", stream);
    if (found == nullptr) return cudaErrorInvalidResourceHandle;
    if (found->capture != nullptr) {
      Node& node = found->capture->graph->add(cudaGraphNodeTypeGraph, found->captured_after);
      node.child = executable.graph->clone();
      node.child->parent = node.graph;
      found->captured_after = {&node};
      return cudaSuccess;
    }
    std::vector<OperationPtr> before;
    device.execution().queues().before_next(*found, before);
    before.insert(before.end(), executable.last.begin(), executable.last.end());
    ResetWork reset;
    executable.graph->visit_conditions([&](const std::shared_ptr<Conditional>& condition) {
      if (condition->at_launch) reset.conditions.push_back(condition);
    });
    if (!reset.conditions.empty()) {
      before = {device.execution().enqueue(std::move(reset), before, found->device)};
    }
    device.execution().launches_in(found);
    executable.is_uploaded = true;
    std::shared_ptr<GraphRun> run;
    if (device.graphs().has_any_for_device()) {
      run = std::make_shared<GraphRun>(device.graphs(), executable.shared_from_this());
    }
    executable.last =
        launch_graph(device.execution(), *executable.graph, before, found->device, run);
    if (run != nullptr) {
      executable.last = {
          device.execution().enqueue(GraphEndWork{run}, executable.last, found->device)};
    }
    device.execution().launches_in(nullptr);
    if (executable.last.size() == 1) {
      found->last = executable.last.front();
    } else {
      found->last = device.execution().enqueue(EmptyWork{}, executable.last, found->device);
    }
    return cudaSuccess;
  });
}

}  // extern "C"
