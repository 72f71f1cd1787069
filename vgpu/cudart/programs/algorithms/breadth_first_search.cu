// Breadth-first search with queues: levels are claimed by compare-and-swap, the next frontier is
// filled through an atomic counter.
// MUTANT: a level is claimed by a test and a store.
// expect: data-race
#include <queue>
#include <vector>

#include "check.hpp"

__global__ void expand(const int* offsets, const int* edges, const int* frontier, int size,
                       int* next, int* next_size, int* levels, int level) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= size) return;
  const int vertex = frontier[i];
  for (int edge = offsets[vertex]; edge < offsets[vertex + 1]; ++edge) {
    const int neighbour = edges[edge];
#ifdef MUTANT
    if (levels[neighbour] != -1) continue;  //~
    levels[neighbour] = level;              //~
#else
    if (atomicCAS(levels + neighbour, -1, level) != -1) continue;
#endif
    next[atomicAdd(next_size, 1)] = neighbour;
  }
}

int main() {
  const int n = 500;
  std::vector<std::vector<int>> graph(n);
  for (int i = 0; i < n; ++i) {
    for (const int to : {i * 7 % n, (i * 13 + 5) % n, (i + 1) % (n - 50)}) {
      graph[i].push_back(to);
      graph[to].push_back(i);
    }
  }
  Buffer<int> offsets(n + 1), edges(6 * n), levels(n, -1), frontier(2 * n), next(2 * n),
      next_size(1);
  for (int i = 0, at = 0; i < n; ++i) {
    for (const int to : graph[i]) edges[at++] = to;
    offsets[i + 1] = at;
  }
  levels[0] = 0;
  frontier[0] = 0;
  int *from = frontier, *to = next, size = 1;
  for (int level = 1; size > 0; ++level) {
    next_size[0] = 0;
    expand<<<(size + 63) / 64, 64>>>(offsets, edges, from, size, to, next_size, levels, level);
    finish();
    size = next_size[0];
    std::swap(from, to);
  }
  std::vector<int> expected(n, -1);
  std::queue<int> queue({0});
  expected[0] = 0;
  for (; !queue.empty(); queue.pop()) {
    for (const int neighbour : graph[queue.front()]) {
      if (expected[neighbour] != -1) continue;
      expected[neighbour] = expected[queue.front()] + 1;
      queue.push(neighbour);
    }
  }
  return verdict(std::equal(expected.begin(), expected.end(), levels.begin()));
}
