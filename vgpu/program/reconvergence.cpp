#include "vgpu/program/reconvergence.hpp"

#include <algorithm>

#include "vgpu/program/strong_components.hpp"

namespace warpcheck::vgpu {
namespace {

using Graph = StrongComponents::Graph;

// Appends the blocks of one region, entered at `entry`, to `order`.
void order_region(const Graph& graph, const std::vector<std::uint32_t>& region, std::uint32_t entry,
                  std::vector<std::uint32_t>& order) {
  std::vector<bool> inside(graph.size(), false);
  for (const std::uint32_t block : region) inside[block] = true;
  StrongComponents components(graph, inside);
  components.visit(entry);
  for (const std::uint32_t block : region) components.visit(block);

  std::vector<bool> placed(graph.size(), false);
  for (auto component = components.found().rbegin(); component != components.found().rend();
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
