#include "vgpu/program/reconvergence.hpp"

#include <algorithm>

namespace warpcheck::vgpu {
namespace {

using Graph = std::vector<std::vector<std::uint32_t>>;

// Strongly connected components of a subgraph (Tarjan, SIAM J. Comput. 1972, iterative), in
// reverse topological order.
class Components {
 public:
  Components(const Graph& graph, const std::vector<bool>& inside) : graph_(graph), inside_(inside) {
    index_.assign(graph.size(), 0);
    low_.assign(graph.size(), 0);
    on_stack_.assign(graph.size(), false);
  }

  void visit(std::uint32_t root) {
    if (index_[root] != 0) return;
    enter(root);
    while (!path_.empty()) {
      Step& step = path_.back();
      const std::uint32_t block = step.block;
      if (step.next < graph_[block].size()) {
        const std::uint32_t to = graph_[block][step.next++];
        if (!inside_[to]) continue;
        if (index_[to] == 0) {
          enter(to);
        } else if (on_stack_[to]) {
          low_[block] = std::min(low_[block], index_[to]);
        }
        continue;
      }
      path_.pop_back();
      if (!path_.empty()) {
        low_[path_.back().block] = std::min(low_[path_.back().block], low_[block]);
      }
      if (low_[block] == index_[block]) close(block);
    }
  }

  std::vector<std::vector<std::uint32_t>> found;

 private:
  struct Step {
    std::uint32_t block;
    std::size_t next;
  };

  void enter(std::uint32_t block) {
    index_[block] = low_[block] = ++counter_;
    stack_.push_back(block);
    on_stack_[block] = true;
    path_.push_back({block, 0});
  }

  void close(std::uint32_t root) {
    std::vector<std::uint32_t> component;
    std::uint32_t member = 0;
    do {
      member = stack_.back();
      stack_.pop_back();
      on_stack_[member] = false;
      component.push_back(member);
    } while (member != root);
    std::sort(component.begin(), component.end());
    found.push_back(std::move(component));
  }

  const Graph& graph_;
  const std::vector<bool>& inside_;
  std::vector<std::uint32_t> index_, low_, stack_;
  std::vector<bool> on_stack_;
  std::vector<Step> path_;
  std::uint32_t counter_ = 0;
};

// Appends the blocks of one region, entered at `entry`, to `order`.
void order_region(const Graph& graph, const std::vector<std::uint32_t>& region, std::uint32_t entry,
                  std::vector<std::uint32_t>& order) {
  std::vector<bool> inside(graph.size(), false);
  for (const std::uint32_t block : region) inside[block] = true;
  Components components(graph, inside);
  components.visit(entry);
  for (const std::uint32_t block : region) components.visit(block);

  std::vector<bool> placed(graph.size(), false);
  for (auto component = components.found.rbegin(); component != components.found.rend();
       ++component) {
    std::vector<bool> member(graph.size(), false);
    for (const std::uint32_t block : *component) member[block] = true;
    // The loop's header is the block at which the blocks placed so far enter the loop; otherwise
    // the first block in the text.
    std::uint32_t header = member[entry] ? entry : component->front();
    if (!member[entry]) {
      for (const std::uint32_t from : order) {
        if (!placed[from]) continue;
        const auto& next = graph[from];
        const auto into =
            std::find_if(next.begin(), next.end(), [&](std::uint32_t to) { return member[to]; });
        if (into != next.end()) {
          header = *into;
          break;
        }
      }
    }
    order.push_back(header);
    placed[header] = true;
    if (component->size() == 1) continue;
    // Without its header, a loop splits into smaller regions; inner loops are then ordered
    // recursively.
    Graph body = graph;
    for (auto& next : body) {
      next.erase(std::remove(next.begin(), next.end(), header), next.end());
    }
    std::vector<std::uint32_t> rest;
    for (const std::uint32_t block : *component) {
      if (block != header) rest.push_back(block);
    }
    std::uint32_t first = rest.front();
    for (const std::uint32_t to : graph[header]) {
      if (to != header && member[to]) {
        first = to;
        break;
      }
    }
    order_region(body, rest, first, order);
    for (const std::uint32_t block : rest) placed[block] = true;
  }
}

}  // namespace

std::vector<std::uint32_t> reconvergence_order(const Graph& successors) {
  if (successors.empty()) return {};
  std::vector<bool> reached(successors.size(), false);
  std::vector<std::uint32_t> work{0};
  reached[0] = true;
  while (!work.empty()) {
    const std::uint32_t block = work.back();
    work.pop_back();
    for (const std::uint32_t to : successors[block]) {
      if (!reached[to]) {
        reached[to] = true;
        work.push_back(to);
      }
    }
  }
  std::vector<std::uint32_t> region;
  for (std::uint32_t block = 0; block < successors.size(); ++block) {
    if (reached[block]) region.push_back(block);
  }
  std::vector<std::uint32_t> order;
  order_region(successors, region, 0, order);
  return order;
}

}  // namespace warpcheck::vgpu
