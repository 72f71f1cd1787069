// Connected components by union-find without locks: roots are hooked by compare-and-swap.
// MUTANT: a root is hooked by a plain store.
// expect: data-race
#include <algorithm>
#include <numeric>
#include <vector>

#include "check.hpp"

__device__ int root_of(int* parents, int vertex) {
  int parent = atomicAdd(parents + vertex, 0);
  while (parent != vertex) {
    const int next = atomicAdd(parents + parent, 0);  //~
    atomicCAS(parents + vertex, parent, next);
    vertex = parent;
    parent = next;
  }
  return vertex;
}

__global__ void unite(const int2* edges, int n, int* parents) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int a = edges[i].x, b = edges[i].y;
  while (true) {
    a = root_of(parents, a);
    b = root_of(parents, b);
    if (a == b) return;
    if (a < b) {
      const int held = a;
      a = b;
      b = held;
    }
#ifdef MUTANT
    parents[a] = b;  //~
    return;
#else
    if (atomicCAS(parents + a, a, b) == a) return;
#endif
  }
}

__global__ void flatten(int* parents, int* labels, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int vertex = i;
  while (parents[vertex] != vertex) vertex = parents[vertex];
  labels[i] = vertex;
}

int main() {
  const int vertices = 300, n = 260;
  Buffer<int2> edges(n);
  Buffer<int> parents(vertices), labels(vertices);
  std::iota(parents.begin(), parents.end(), 0);
  for (int i = 0; i < n; ++i) edges[i] = make_int2(i * 7 % vertices, (i * i + 3) % vertices);
  unite<<<3, 96>>>(edges, n, parents);
  flatten<<<3, 128>>>(parents, labels, vertices);
  finish();
  std::vector<int> expected(vertices);
  std::iota(expected.begin(), expected.end(), 0);
  for (bool changed = true; changed;) {
    changed = false;
    for (const int2 edge : edges) {
      const int low = std::min(expected[edge.x], expected[edge.y]);
      changed |= expected[edge.x] != low || expected[edge.y] != low;
      expected[edge.x] = expected[edge.y] = low;
    }
  }
  return verdict(std::equal(expected.begin(), expected.end(), labels.begin()));
}
