// Graphs: work with its dependencies, made by hand or captured from streams, and launched as often
// as one likes (CUDA Programming Guide, "CUDA Graphs").
//
// A launch asks for one operation a node, so the nodes of a graph that nothing orders run in any
// order that the strategy likes, as streams do.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "vgpu/cudart/graphs/conditionals.hpp"
#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

class Allocations;
class Execution;
struct Graph;
struct Stream;

struct Node {
  Graph* graph = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  Work work;                       // of a kernel, copy, fill or host function
  cudaEvent_t event = nullptr;     // of a record or a wait
  std::unique_ptr<Graph> child;    // of a child graph
  std::vector<Node*> after;        // in the order in which they were given
  const Node* original = nullptr;  // of a clone
  bool enabled = true;
  Choice choice;                                         // of a conditional node
  std::map<int, cudaLaunchAttributeValue> attributes{};  // of a kernel node
  std::vector<cudaGraph_t> bodies_given_out{};           // cudaConditionalNodeParams::phGraph_out
  std::vector<void*> arguments;  // what cudaGraphKernelNodeGetParams gives out
  // Its child graph, or the bodies of a conditional node.
  [[nodiscard]] std::vector<Graph*> inner_graphs() const;
};

// An object of the program, which its destructor ends when nobody holds it any more: then the end
// of the call runs that.
class HeldObject {
 public:
  HeldObject(const HostWork& destructor, std::vector<HostWork>& to_end)
      : destructor_(destructor), to_end_(to_end) {}
  ~HeldObject() { to_end_.push_back(destructor_); }
  HeldObject(const HeldObject&) = delete;
  HeldObject& operator=(const HeldObject&) = delete;

 private:
  HostWork destructor_;
  std::vector<HostWork>& to_end_;
};

// cudaUserObject_t
struct UserObject {
  std::shared_ptr<HeldObject> held;
  unsigned references = 0;  // of the program
};

struct Graph {
  std::vector<std::shared_ptr<HeldObject>> objects;  // each as often as it was retained
  std::vector<std::unique_ptr<Node>> nodes;
  Graph* parent = nullptr;  // of a child graph

  Node& add(cudaGraphNodeType type, std::vector<Node*> after);
  // An equal graph whose nodes remember those of this one.
  [[nodiscard]] std::unique_ptr<Graph> clone() const;
  // The node that was cloned from `original`, here or in a child graph.
  [[nodiscard]] Node* find_clone(const Node* original) const;
  [[nodiscard]] std::vector<Node*> dependents_of(const Node& node) const;
  // Dependencies first, else in the order of their making.  Fewer than all: there is a cycle.
  [[nodiscard]] std::vector<Node*> in_order() const;
  // What conditional nodes ask for, here and in inner graphs.
  void visit_conditions(
      const std::function<void(const std::shared_ptr<Conditional>&)>& visit) const;
};

struct ExecutableGraph {
  std::unique_ptr<Graph> graph;
  unsigned long long flags = 0;
  std::vector<OperationPtr> last;  // of the latest launch: it never runs beside itself
};

// What streams capture together.
struct Capture {
  std::unique_ptr<Graph> own;  // null: into a graph of the program
  Graph* graph = nullptr;
  Stream* origin = nullptr;
  unsigned long long id = 0;
  bool invalidated = false;
};

// Handles are addresses of the objects.
struct Graphs {
  std::vector<HostWork> to_end;  // destructors of objects that nobody holds any more
  std::map<cudaUserObject_t, UserObject> objects;
  std::map<const void*, std::unique_ptr<Graph>> graphs;
  std::map<const void*, std::unique_ptr<ExecutableGraph>> executable;
  unsigned long long next_capture = 1;
  Conditionals conditionals;
  cudaGraphConditionalHandle next_conditional = 1;

  // nullptr: no such graph or node; child graphs and their nodes count.
  [[nodiscard]] Graph* find(cudaGraph_t handle) const;
  [[nodiscard]] Node* find(cudaGraphNode_t handle) const;
  [[nodiscard]] ExecutableGraph* find(cudaGraphExec_t handle) const;
};

inline cudaGraph_t handle_of(Graph* graph) { return reinterpret_cast<cudaGraph_t>(graph); }
inline cudaGraphNode_t handle_of(Node* node) { return reinterpret_cast<cudaGraphNode_t>(node); }

// The type of the node that does it.
cudaGraphNodeType type_of(const Work& work);

// Asks for the nodes after `before`; the operations that are last.
std::vector<OperationPtr> launch_graph(Execution& execution, const Graph& graph,
                                       const std::vector<OperationPtr>& before, unsigned device);

// Memory for an allocation node, and what the node does.  nullptr: out of memory.
void* allocate_in_graph(Allocations& allocations, std::size_t bytes, Work& work);

// A call in a stream that is captured makes a node.  A call that waits cannot be captured.
cudaError_t capture_work(Stream& stream, Work work, bool until_done);
// What a synchronising call on such a stream answers: the capture is spoilt.
cudaError_t spoil_capture(Stream& stream);

}  // namespace warpcheck::cudart
