// Graphs: work with dependencies, created by calls or captured from streams, which can be launched
// any number of times (CUDA Programming Guide, "CUDA Graphs").
//
// A launch requests one operation per node, so nodes that are not ordered run in any order that the
// strategy chooses, like operations of streams.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "vgpu/cudart/graphs/conditionals.hpp"
#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/cudart/streams/work.hpp"

namespace warpcheck::cudart {

class Allocations;
class Execution;
class GraphRun;
struct Graph;
struct Stream;

struct Node {
  Graph* graph = nullptr;
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  Work work;                       // set for a kernel, copy, fill or host function
  cudaEvent_t event = nullptr;     // set for a record or a wait
  std::unique_ptr<Graph> child;    // set for a child graph
  std::vector<Node*> after;        // dependencies, in the order in which they were given
  const Node* original = nullptr;  // set in a clone
  // Return address of the call that has made it: the place that findings name, for each launch.
  const void* asked_at = nullptr;
  bool enabled = true;
  Choice choice;                                         // set for a conditional node
  std::map<int, cudaLaunchAttributeValue> attributes{};  // set for a kernel node
  std::vector<cudaGraph_t> bodies_given_out{};           // cudaConditionalNodeParams::phGraph_out
  std::vector<void*> arguments;                          // returned by cudaGraphKernelNodeGetParams
  // Returns its child graph, or the bodies of a conditional node.
  [[nodiscard]] std::vector<Graph*> inner_graphs() const;
};

// A user object.  When its last reference is released, its destructor is queued and runs at the end
// of the call.
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
  unsigned references = 0;  // held by the program
};

struct Graph {
  std::vector<std::shared_ptr<HeldObject>> objects;  // each as often as it was retained
  std::vector<std::unique_ptr<Node>> nodes;
  Graph* parent = nullptr;  // set for a child graph

  Node& add(cudaGraphNodeType type, std::vector<Node*> after);
  // Returns an equal graph whose nodes refer to the nodes of this one.
  [[nodiscard]] std::unique_ptr<Graph> clone() const;
  // Returns the node that was cloned from `original`, here or in a child graph.
  [[nodiscard]] Node* find_clone(const Node* original) const;
  [[nodiscard]] std::vector<Node*> dependents_of(const Node& node) const;
  // Returns the nodes with dependencies first, otherwise in the order of creation.  If not all
  // nodes are returned, there is a cycle.
  [[nodiscard]] std::vector<Node*> in_order() const;
  // Visits the conditions of conditional nodes, here and in inner graphs.
  void visit_conditions(
      const std::function<void(const std::shared_ptr<Conditional>&)>& visit) const;
};

struct ExecutableGraph : std::enable_shared_from_this<ExecutableGraph> {
  std::unique_ptr<Graph> graph;
  unsigned long long flags = 0;
  bool is_uploaded = false;  // which a launch by device code needs
  [[nodiscard]] bool is_for_device() const {
    return (flags & cudaGraphInstantiateFlagDeviceLaunch) != 0;
  }
  // of the latest launch, because a graph never runs concurrently with itself
  std::vector<OperationPtr> last;
};

// A capture that one or several streams take part in.
struct Capture {
  std::unique_ptr<Graph> own;  // null: the capture adds to a graph of the program, or has ended
  Graph* graph = nullptr;
  Stream* origin = nullptr;
  unsigned long long id = 0;
  bool invalidated = false, ended = false;
};

// Handles are addresses of the objects.
struct Graphs {
  std::vector<HostWork> to_end;  // destructors of objects without references
  std::map<cudaUserObject_t, UserObject> objects;
  std::map<const void*, std::unique_ptr<Graph>> graphs;
  std::map<const void*, std::shared_ptr<ExecutableGraph>> executable;
  std::vector<std::weak_ptr<Capture>> captures;  // those in progress, and some that have ended
  unsigned long long next_capture = 1;
  Conditionals conditionals;
  cudaGraphConditionalHandle next_conditional = 1;

  // Return nullptr if there is no such graph or node; child graphs and their nodes are found too,
  // and graphs that are being captured (cudaStreamGetCaptureInfo).
  [[nodiscard]] Graph* find(cudaGraph_t handle) const;
  [[nodiscard]] Node* find(cudaGraphNode_t handle) const;
  [[nodiscard]] ExecutableGraph* find(cudaGraphExec_t handle) const;
  // Returns whether device code may launch any.
  [[nodiscard]] bool has_any_for_device() const;
  // A graph that a capture adds to cannot be destroyed, nor its nodes.
  [[nodiscard]] bool is_being_captured(cudaGraph_t handle) const;
};

inline cudaGraph_t handle_of(Graph* graph) { return reinterpret_cast<cudaGraph_t>(graph); }
inline cudaGraphNode_t handle_of(Node* node) { return reinterpret_cast<cudaGraphNode_t>(node); }

// Returns the type of the node for this work.
cudaGraphNodeType type_of(const Work& work);

// Requests the nodes after `before`.  Returns the last operations.
//   run: of the whole graph; null: no device code can launch graphs
std::vector<OperationPtr> launch_graph(Execution& execution, const Graph& graph,
                                       const std::vector<OperationPtr>& before, unsigned device,
                                       const std::shared_ptr<GraphRun>& run);

// Allocates memory for an allocation node, and sets the node's work. nullptr: out of memory.
void* allocate_in_graph(Allocations& allocations, std::string_view call, std::size_t bytes,
                        Work& work);

// Adds a node for a call in a captured stream.  A call that waits cannot be captured.
cudaError_t capture_work(Stream& stream, Work work, bool until_done);
// Invalidates the capture, and returns the error of a synchronising call on such a stream.
cudaError_t spoil_capture(Stream& stream);

}  // namespace warpcheck::cudart
