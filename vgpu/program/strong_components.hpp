// Strongly connected components of a graph: its loops, and the nodes that are in none (Tarjan,
// SIAM J. Comput. 1972; iterative).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace warpcheck::vgpu {

class StrongComponents {
 public:
  // by node: the nodes that may follow it
  using Graph = std::vector<std::vector<std::uint32_t>>;

  //   inside: the nodes of the subgraph that counts
  StrongComponents(const Graph& graph, const std::vector<bool>& inside);
  // Adds the components that can be reached from a node, unless they were found before.
  void visit(std::uint32_t root);
  // Returns the components so far in reverse topological order; the nodes of each ascend.
  [[nodiscard]] const std::vector<std::vector<std::uint32_t>>& found() const { return found_; }

 private:
  struct Step {
    std::uint32_t node;
    std::size_t next;  // the index of the successor to be looked at
  };

  void enter(std::uint32_t node);
  void close(std::uint32_t root);

  const Graph& graph_;
  const std::vector<bool>& inside_;
  std::vector<std::uint32_t> index_, low_, stack_;
  std::vector<bool> on_stack_;
  std::vector<Step> path_;
  std::uint32_t counter_ = 0;
  std::vector<std::vector<std::uint32_t>> found_;
};

}  // namespace warpcheck::vgpu
