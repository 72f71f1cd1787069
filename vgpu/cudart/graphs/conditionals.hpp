// The values that conditional nodes of graphs ask for: set by device code, by their handles (CUDA
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
  std::optional<unsigned> at_launch;  // what each launch of the graph begins with
};

using Conditionals = std::map<cudaGraphConditionalHandle, std::shared_ptr<Conditional>>;

// What a conditional node does: it lives on in launches when its graph is gone.
struct Choice {
  std::shared_ptr<Conditional> condition;
  cudaGraphConditionalNodeType type = cudaGraphCondTypeIf;
  std::vector<std::shared_ptr<Graph>> bodies;
};

}  // namespace warpcheck::cudart
