// One execution of a graph, and the graphs that its kernels launch (CUDA Programming Guide, "Device
// Graph Launch").
//
// What a kernel has asked for runs when all nodes of its graph have ended, which is one of the
// times that the guide allows: first what was fired and forgotten, then the tail launches, each
// with what it launches itself.  What is ordered follows from the launches that have run (Ran), not
// from when they run: a graph that is fired and forgotten comes after what its thread had done, and
// after what its kernel came after.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "vgpu/cudart/streams/order.hpp"

namespace warpcheck::cudart {

struct ExecutableGraph;
struct Graphs;
struct Operation;

struct GraphRequest {
  enum class Mode : std::uint8_t { forget, tail, sibling };
  std::shared_ptr<const ExecutableGraph> graph;
  Mode mode = Mode::forget;
  std::uint32_t launched_as = 0;  // DeviceAnswer::launched
  std::uint32_t by = 0;           // the launch of the kernel that asked for it
};

class GraphRun {
 public:
  // A launch by the host.
  GraphRun(const Graphs& graphs, std::shared_ptr<const ExecutableGraph> graph)
      : graphs_(graphs), graph_(std::move(graph)), ran_(std::make_shared<std::vector<Ran>>()) {}
  // One that was asked for in another run.
  GraphRun(const GraphRun& outer, std::shared_ptr<const ExecutableGraph> graph)
      : graphs_(outer.graphs_), graph_(std::move(graph)), ran_(outer.ran_) {}

  // The handle of the graph, as device code reads it: 0 unless the device may launch it.
  [[nodiscard]] std::uint64_t current() const;
  // cudaGraphLaunch by device code.  If it succeeds, launched_as is the number of the launch.
  cudaError_t ask(std::uint64_t handle, std::uint64_t stream, std::uint32_t launched_as,
                  std::uint32_t by);
  // Takes the requests of one kind, in their order.
  std::vector<GraphRequest> take(bool of_tails);

  // A kernel has run: its launch, and the launches of its run, or of its operation, that are not
  // ordered before it.
  void ran(std::uint32_t launch, const Operation& operation, std::vector<std::uint32_t> unordered);
  // Returns the launches so far that do not come before what this launch has asked for, ascending.
  [[nodiscard]] std::vector<std::uint32_t> not_before(std::uint32_t launch) const;
  [[nodiscard]] std::size_t count() const { return ran_->size(); }
  // Returns the launches since the count was `first`, ascending.
  [[nodiscard]] std::vector<std::uint32_t> since(std::size_t first) const;

 private:
  struct Ran {
    std::uint32_t launch = 0;
    Stamp stamp;
    OperationSet clock;  // of the operation
    std::vector<std::uint32_t> unordered;
  };

  const Graphs& graphs_;
  std::shared_ptr<const ExecutableGraph> graph_;  // the program may destroy it meanwhile
  std::shared_ptr<std::vector<Ran>> ran_;         // of the launch by the host, in their order
  std::vector<GraphRequest> requests_;
  unsigned forgotten_ = 0;  // how many were asked for in this run
};

}  // namespace warpcheck::cudart
