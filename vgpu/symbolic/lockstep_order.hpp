// What orders two threads of one warp whose lanes run in lockstep.
//
// Lanes that a branch separates meet again at the first place that all ways from the branch pass
// (its immediate post-dominator).  So the order of two instructions is open only if they stand on
// different ways from one branch to that place.
#pragma once

#include <cstdint>
#include <vector>

#include "vgpu/symbolic/flow_graph.hpp"

namespace warpcheck::vgpu::symbolic {

class LockstepOrder {
 public:
  explicit LockstepOrder(const FlowGraph& graph);

  // Whether two different instructions are ordered, or one with itself in another iteration.
  [[nodiscard]] bool orders(std::uint32_t a, std::uint32_t b) const;

 private:
  // Of a branch: the blocks on each way to where the ways meet.
  using Ways = std::vector<std::vector<bool>>;

  const FlowGraph& graph_;
  std::vector<Ways> branches_;
};

}  // namespace warpcheck::vgpu::symbolic
