// Helpers by which the API's functions find and create nodes of graphs.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <utility>
#include <vector>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/copies/copies.hpp"
#include "vgpu/cudart/graphs/graphs.hpp"

namespace warpcheck::cudart {

// Runs the destructors of user objects that are no longer referenced.  Called at the end of a call,
// because the mutex is released during a destructor.
cudaError_t end_objects(Device& device);

// Applies what an edge allows its target node.
inline void take_edge(Node& later, const cudaGraphEdgeData& edge) {
  auto* const kernel = std::get_if<KernelWork>(&later.work);
  if (kernel != nullptr && edge.type == cudaGraphDependencyTypeProgrammatic)
    kernel->may_begin_early = true;
}

// ---- the work of nodes that move memory, from their parameters ----

cudaError_t copy_work(Device& device, const cudaMemcpy3DParms* given, Work& work);

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
  if (error == cudaSuccess) work = fill;
  return error;
}

// ---- what the rows of graph_node_functions.def do with nodes that move or allocate memory ----

cudaError_t set_copy(Device& device, const cudaMemcpy3DParms* given, Node& node);
cudaError_t get_copy(Node& node, cudaMemcpy3DParms* parameters);
cudaError_t set_fill(Device& device, const cudaMemsetParams* given, Node& node);
cudaError_t get_fill(Node& node, cudaMemsetParams* parameters);
cudaError_t set_allocation(Device& device, cudaMemAllocNodeParams* parameters, Node& node);
cudaError_t get_allocation(Node& node, cudaMemAllocNodeParams* parameters);
cudaError_t set_free(Device& device, void* pointer, Node& node);
cudaError_t get_free(Node& node, void* pointer);

// ---- the place of a node in a graph ----

inline bool list_nodes(const Graphs& graphs, const Graph& graph, const cudaGraphNode_t* handles,
                       std::size_t count, std::vector<Node*>& nodes) {
  if (count != 0 && handles == nullptr) return false;
  for (std::size_t i = 0; i < count; ++i) {
    Node* const node = graphs.find(handles[i]);
    if (node == nullptr || node->graph != &graph) return false;
    nodes.push_back(node);
  }
  return true;
}

// The graph to which a call adds a node, the place for the node's handle, and its dependencies.
struct NodeSite {
  cudaGraphNode_t* node;
  cudaGraph_t graph;
  const cudaGraphNode_t* after;
  std::size_t count;
};

// Adds a node of `type`, which fill(device, node) completes.
template <typename Fill>
cudaError_t add_node(const NodeSite& site, cudaGraphNodeType type, Fill&& fill) {
  return answer([&](Device& device) {
    Graph* const graph = device.graphs().find(site.graph);
    std::vector<Node*> after;
    if (site.node == nullptr || graph == nullptr ||
        !list_nodes(device.graphs(), *graph, site.after, site.count, after)) {
      return cudaErrorInvalidValue;
    }
    Node made;
    made.type = type;
    if (const cudaError_t error = fill(device, made)) return error;
    Node& node = graph->add(type, std::move(after));
    node.work = std::move(made.work);
    node.event = made.event;
    node.child = std::move(made.child);
    if (node.child != nullptr) node.child->parent = graph;
    node.choice = std::move(made.choice);
    node.bodies_given_out = std::move(made.bodies_given_out);
    for (const auto& body : node.choice.bodies) body->parent = graph;
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

// Runs it for the corresponding node of an instantiated graph.
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

}  // namespace warpcheck::cudart
