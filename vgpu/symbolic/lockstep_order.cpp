#include "vgpu/symbolic/lockstep_order.hpp"

#include <algorithm>

namespace warpcheck::vgpu::symbolic {
namespace {

using Blocks = std::vector<bool>;

// By block, those that every way from it to the end of the thread passes; itself included.
std::vector<Blocks> post_dominators(const std::vector<BasicBlock>& blocks) {
  std::vector<Blocks> all(blocks.size(), Blocks(blocks.size(), true));
  bool changes = true;
  while (changes) {
    changes = false;
    for (std::size_t i = blocks.size(); i-- > 0;) {
      Blocks common(blocks.size(), !blocks[i].edges.empty());
      for (const Edge& edge : blocks[i].edges) {
        for (std::size_t k = 0; k < common.size(); ++k) {
          common[k] = common[k] && edge.to != kEnd && all[edge.to][k];
        }
      }
      common[i] = true;
      changes |= common != all[i];
      all[i] = std::move(common);
    }
  }
  return all;
}

// The nearest of those that dominate a block, or the end.
std::uint32_t nearest(const std::vector<Blocks>& dominators, std::uint32_t block) {
  std::uint32_t found = kEnd;
  std::ptrdiff_t most = 0;
  for (std::uint32_t i = 0; i < dominators.size(); ++i) {
    if (i == block || !dominators[block][i]) continue;
    const std::ptrdiff_t behind = std::ranges::count(dominators[i], true);
    if (behind <= most) continue;
    most = behind;
    found = i;
  }
  return found;
}

Blocks reached(const std::vector<BasicBlock>& blocks, std::uint32_t from, std::uint32_t until) {
  Blocks seen(blocks.size());
  std::vector<std::uint32_t> waiting{from};
  while (!waiting.empty()) {
    const std::uint32_t block = waiting.back();
    waiting.pop_back();
    if (block == kEnd || block == until || seen[block]) continue;
    seen[block] = true;
    for (const Edge& edge : blocks[block].edges) waiting.push_back(edge.to);
  }
  return seen;
}

}  // namespace

LockstepOrder::LockstepOrder(const FlowGraph& graph) : graph_(graph) {
  const std::vector<BasicBlock>& blocks = graph.blocks();
  const std::vector<Blocks> dominators = post_dominators(blocks);
  for (std::uint32_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].edges.size() < 2) continue;
    const std::uint32_t meeting = nearest(dominators, i);
    Ways& ways = branches_.emplace_back();
    for (const Edge& edge : blocks[i].edges) ways.push_back(reached(blocks, edge.to, meeting));
  }
}

bool LockstepOrder::orders(std::uint32_t a, std::uint32_t b) const {
  const std::uint32_t x = graph_.block_of(a), y = graph_.block_of(b);
  for (const Ways& ways : branches_) {
    const auto of_x = std::ranges::count_if(ways, [&](const Blocks& way) { return way[x]; });
    const auto of_y = std::ranges::count_if(ways, [&](const Blocks& way) { return way[y]; });
    const auto of_both =
        std::ranges::count_if(ways, [&](const Blocks& way) { return way[x] && way[y]; });
    // On one way alone, and the same one, they are ordered.
    if (of_x > 0 && of_y > 0 && !(of_x == 1 && of_y == 1 && of_both == 1)) return false;
  }
  return true;
}

}  // namespace warpcheck::vgpu::symbolic
