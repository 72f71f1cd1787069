#include "vgpu/cudart/graphs/graphs.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "vgpu/cudart/api/calls/api_call.hpp"
#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/cudart/streams/execution.hpp"
#include "vgpu/cudart/streams/queues.hpp"

namespace warpcheck::cudart {
namespace {

Graph* find_in(Graph& graph, const void* handle) {
  if (&graph == handle) return &graph;
  for (const auto& node : graph.nodes) {
    for (Graph* const inner : node->inner_graphs()) {
      if (Graph* const found = find_in(*inner, handle)) return found;
    }
  }
  return nullptr;
}

Node* find_node_in(const Graph& graph, const void* handle) {
  for (const auto& node : graph.nodes) {
    if (node.get() == handle) return node.get();
    for (const Graph* const inner : node->inner_graphs()) {
      if (Node* const found = find_node_in(*inner, handle)) return found;
    }
  }
  return nullptr;
}

}  // namespace

std::vector<Graph*> Node::inner_graphs() const {
  std::vector<Graph*> graphs;
  if (child != nullptr) graphs.push_back(child.get());
  for (const auto& body : choice.bodies) graphs.push_back(body.get());
  return graphs;
}

void Graph::visit_conditions(
    const std::function<void(const std::shared_ptr<Conditional>&)>& visit) const {
  for (const auto& node : nodes) {
    if (node->choice.condition != nullptr) visit(node->choice.condition);
    for (const Graph* const inner : node->inner_graphs()) inner->visit_conditions(visit);
  }
}

Node& Graph::add(cudaGraphNodeType type, std::vector<Node*> after) {
  Node& node = *nodes.emplace_back(std::make_unique<Node>());
  node.graph = this;
  node.type = type;
  node.after = std::move(after);
  node.asked_at = current_call().return_address;
  return node;
}

std::unique_ptr<Graph> Graph::clone() const {
  auto copy = std::make_unique<Graph>();
  copy->objects = objects;
  std::unordered_map<const Node*, Node*> clone_of;
  for (const auto& node : nodes) {
    Node& made = copy->add(node->type, {});
    made.work = node->work;
    made.event = node->event;
    made.original = node.get();
    made.asked_at = node->asked_at;
    made.enabled = node->enabled;
    made.attributes = node->attributes;
    if (node->child != nullptr) {
      made.child = node->child->clone();
      made.child->parent = copy.get();
    }
    made.choice = {node->choice.condition, node->choice.type, {}};
    for (const auto& body : node->choice.bodies) {
      made.choice.bodies.push_back(body->clone());
      made.choice.bodies.back()->parent = copy.get();
    }
    clone_of[node.get()] = &made;
  }
  for (const auto& node : nodes) {
    for (const Node* const earlier : node->after) {
      clone_of[node.get()]->after.push_back(clone_of[earlier]);
    }
  }
  return copy;
}

Node* Graph::find_clone(const Node* original) const {
  for (const auto& node : nodes) {
    if (node->original == original) return node.get();
    for (const Graph* const inner : node->inner_graphs()) {
      if (Node* const found = inner->find_clone(original)) return found;
    }
  }
  return nullptr;
}

std::vector<Node*> Graph::dependents_of(const Node& node) const {
  std::vector<Node*> list;
  for (const auto& other : nodes) {
    if (std::ranges::find(other->after, &node) != other->after.end()) list.push_back(other.get());
  }
  return list;
}

std::vector<Node*> Graph::in_order() const {
  std::vector<Node*> order;
  std::unordered_set<const Node*> done;
  for (bool found = true; found;) {
    found = false;
    for (const auto& node : nodes) {
      const bool is_ready =
          !done.contains(node.get()) && std::ranges::all_of(node->after, [&](const Node* earlier) {
            return done.contains(earlier);
          });
      if (!is_ready) continue;
      order.push_back(node.get());
      done.insert(node.get());
      found = true;
    }
  }
  return order;
}

Graph* Graphs::find(cudaGraph_t handle) const {
  for (const auto& [address, graph] : graphs) {
    if (Graph* const found = find_in(*graph, handle)) return found;
  }
  for (const auto& one : captures) {
    const std::shared_ptr<Capture> capture = one.lock();
    if (capture == nullptr || capture->own == nullptr) continue;
    if (Graph* const found = find_in(*capture->own, handle)) return found;
  }
  return nullptr;
}

Node* Graphs::find(cudaGraphNode_t handle) const {
  if (handle == nullptr) return nullptr;
  for (const auto& [address, graph] : graphs) {
    if (Node* const found = find_node_in(*graph, handle)) return found;
  }
  for (const auto& one : captures) {
    const std::shared_ptr<Capture> capture = one.lock();
    if (capture == nullptr || capture->own == nullptr) continue;
    if (Node* const found = find_node_in(*capture->own, handle)) return found;
  }
  return nullptr;
}

bool Graphs::is_being_captured(cudaGraph_t handle) const {
  return std::ranges::any_of(captures, [&](const auto& one) {
    const std::shared_ptr<Capture> capture = one.lock();
    return capture != nullptr && !capture->ended && handle_of(capture->graph) == handle;
  });
}

ExecutableGraph* Graphs::find(cudaGraphExec_t handle) const {
  const auto found = executable.find(handle);
  return found == executable.end() ? nullptr : found->second.get();
}

bool Graphs::has_any_for_device() const {
  return std::ranges::any_of(executable,
                             [](const auto& one) { return one.second->is_for_device(); });
}

cudaGraphNodeType type_of(const Work& work) {
  // On a GPU, a library function runs as a kernel.  Graphs have no nodes for stream values.
  constexpr std::array kTypes{
      cudaGraphNodeTypeEmpty,    cudaGraphNodeTypeKernel, cudaGraphNodeTypeMemcpy,
      cudaGraphNodeTypeMemset,   cudaGraphNodeTypeHost,   cudaGraphNodeTypeMemFree,
      cudaGraphNodeTypeMemAlloc, cudaGraphNodeTypeKernel, cudaGraphNodeTypeConditional,
      cudaGraphNodeTypeEmpty,    cudaGraphNodeTypeEmpty,  cudaGraphNodeTypeEventRecord,
      cudaGraphNodeTypeEmpty,    cudaGraphNodeTypeEmpty};
  static_assert(kTypes.size() == std::variant_size_v<Work>);
  return kTypes[work.index()];
}

std::vector<OperationPtr> launch_graph(Execution& execution, const Graph& graph,
                                       const std::vector<OperationPtr>& before, unsigned device,
                                       const std::shared_ptr<GraphRun>& run) {
  std::unordered_map<const Node*, OperationPtr> end_of;
  std::unordered_set<const Node*> waited_for;
  const Node* earlier_in_order = nullptr;
  for (const Node* const node : graph.in_order()) {
    std::vector<OperationPtr> after = node->after.empty() ? before : std::vector<OperationPtr>{};
    for (const Node* const earlier : node->after) {
      after.push_back(end_of[earlier]);
      waited_for.insert(earlier);
    }
    const Node* const previous = std::exchange(earlier_in_order, node);
    if (previous != nullptr && execution.queues().orders_nodes()) after.push_back(end_of[previous]);
    Event* const event = node->event == nullptr ? nullptr : execution.queues().find(node->event);
    if (event != nullptr && node->type == cudaGraphNodeTypeWaitEvent)
      after.push_back(event->record);
    if (node->child != nullptr && node->enabled)
      after = launch_graph(execution, *node->child, after, device, run);
    if (node->choice.condition != nullptr) {
      end_of[node] =
          execution.enqueue(ConditionalWork{node->choice, run}, after, device, node->asked_at);
      continue;
    }
    OperationPtr& end = end_of[node];
    Work work = node->enabled ? node->work : Work{};
    if (auto* const kernel = std::get_if<KernelWork>(&work)) kernel->graph_run = run;
    if (node->after.size() == 1) execution.let_begin_early(work, *after.front());
    end = execution.enqueue(std::move(work), after, device, node->asked_at);
    if (event != nullptr && node->type == cudaGraphNodeTypeEventRecord) event->record = end;
  }
  std::vector<OperationPtr> last;
  for (const auto& node : graph.nodes) {
    if (!waited_for.contains(node.get())) last.push_back(end_of[node.get()]);
  }
  return last.empty() ? before : last;
}

void* allocate_in_graph(Allocations& allocations, std::string_view call, std::size_t bytes,
                        Work& work) {
  vgpu::Allocation* const allocation = allocations.allocate(bytes);
  if (allocation == nullptr) return nullptr;
  allocations.of_graphs().add(*allocation);
  work = AllocateWork{allocation, reported_name(call), true};
  return reinterpret_cast<void*>(allocation->address);
}

cudaError_t spoil_capture(Stream& stream) {
  stream.capture->invalidated = true;
  return cudaErrorStreamCaptureUnsupported;
}

cudaError_t capture_work(Stream& stream, Work work, bool until_done) {
  if (stream.capture->invalidated) return cudaErrorStreamCaptureInvalidated;
  if (until_done) return spoil_capture(stream);
  Node& node = stream.capture->graph->add(type_of(work), stream.captured_after);
  node.work = std::move(work);
  stream.captured_after.assign(1, &node);
  return cudaSuccess;
}

}  // namespace warpcheck::cudart
