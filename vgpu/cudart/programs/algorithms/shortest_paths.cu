// Single-source shortest paths (Bellman-Ford) with atomicMin, until no distance changes.
// notes: data-race
// MUTANT: distances are read without an atomic while others lower them.
// expect: data-race
#include <algorithm>
#include <climits>
#include <vector>

#include "check.hpp"

struct Edge {
  int from, to, weight;
};

__global__ void relax(const Edge* edges, int n, int* distances, int* changed) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const Edge edge = edges[i];
#ifdef MUTANT
  const int distance = distances[edge.from];  //~
#else
  const int distance = atomicAdd(distances + edge.from, 0);
#endif
  if (distance == INT_MAX) return;
  const int better = distance + edge.weight;
  if (atomicMin(distances + edge.to, better) > better) *changed = 1;  //~
}

int main() {
  const int vertices = 200, n = 800;
  Buffer<Edge> edges(n);
  Buffer<int> distances(vertices, INT_MAX), changed(1);
  for (int i = 0; i < n; ++i) edges[i] = {i * 17 % vertices, (i * 31 + 7) % vertices, 1 + i % 9};
  distances[0] = 0;
  do {
    changed[0] = 0;
    relax<<<(n + 127) / 128, 128>>>(edges, n, distances, changed);
    finish();
  } while (changed[0] != 0);
  std::vector<long> expected(vertices, INT_MAX);
  expected[0] = 0;
  for (int round = 0; round < vertices; ++round) {
    for (const Edge& edge : edges) {
      if (expected[edge.from] == INT_MAX) continue;
      expected[edge.to] = std::min(expected[edge.to], expected[edge.from] + edge.weight);
    }
  }
  return verdict(std::equal(expected.begin(), expected.end(), distances.begin()));
}
