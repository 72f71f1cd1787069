#include "vgpu/program/strong_components.hpp"

#include <algorithm>
#include <utility>

namespace warpcheck::vgpu {

StrongComponents::StrongComponents(const Graph& graph, const std::vector<bool>& inside)
    : graph_(graph),
      inside_(inside),
      index_(graph.size(), 0),
      low_(graph.size(), 0),
      on_stack_(graph.size(), false) {}

void StrongComponents::visit(std::uint32_t root) {
  if (index_[root] != 0) return;
  enter(root);
  while (!path_.empty()) {
    Step& step = path_.back();
    const std::uint32_t node = step.node;
    if (step.next < graph_[node].size()) {
      const std::uint32_t to = graph_[node][step.next++];
      if (!inside_[to]) continue;
      if (index_[to] == 0) {
        enter(to);
      } else if (on_stack_[to]) {
        low_[node] = std::min(low_[node], index_[to]);
      }
      continue;
    }
    path_.pop_back();
    if (!path_.empty()) low_[path_.back().node] = std::min(low_[path_.back().node], low_[node]);
    if (low_[node] == index_[node]) close(node);
  }
}

void StrongComponents::enter(std::uint32_t node) {
  index_[node] = low_[node] = ++counter_;
  stack_.push_back(node);
  on_stack_[node] = true;
  path_.push_back({node, 0});
}

void StrongComponents::close(std::uint32_t root) {
  std::vector<std::uint32_t> component;
  do {
    component.push_back(stack_.back());
    on_stack_[stack_.back()] = false;
    stack_.pop_back();
  } while (component.back() != root);
  std::ranges::sort(component);
  found_.push_back(std::move(component));
}

}  // namespace warpcheck::vgpu
