// The conditions of conditional graph nodes: values that device code sets by their handles (CUDA
// Programming Guide, "Conditional Graph Nodes").
#pragma once

#include <cuda_runtime_api.h>

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace warpcheck::cudart {

struct Graph;

struct Conditional {
  unsigned value = 0;
  std::optional<unsigned> at_launch;  // the initial value in each launch of the graph
};

using Conditionals = std::map<cudaGraphConditionalHandle, std::shared_ptr<Conditional>>;

// The choice of a conditional node.  It survives in launches after its graph was destroyed.
struct Choice {
  std::shared_ptr<Conditional> condition;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::vector<std::shared_ptr<Graph>> bodies;
};

}  // namespace warpcheck::cudart
