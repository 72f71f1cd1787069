// A lock-free stack of nodes with a tagged head, pushed by all threads and popped by all threads
// of the next launch.
// MUTANT: nodes are pushed without a release of what they hold, and popped at the same time.
// expect: data-race
#include "check.hpp"

struct Node {
  int value, next;
};
using Head = unsigned long long;  // a tag, and the index of a node + 1

__device__ void push(Node* nodes, Head* head, int index) {
  Head seen = atomicAdd(head, 0ull), wanted;
  do {
    nodes[index].next = static_cast<int>(seen & 0xffffffff);  //~
#ifndef MUTANT
    __threadfence();
#endif
    wanted = ((seen >> 32) + 1) << 32 | (index + 1);
    const Head found = atomicCAS(head, seen, wanted);
    if (found == seen) return;
    seen = found;
  } while (true);
}

__device__ int pop(Node* nodes, Head* head) {
  Head seen = atomicAdd(head, 0ull);
  while ((seen & 0xffffffff) != 0) {
    __threadfence();
    const int index = static_cast<int>(seen & 0xffffffff) - 1;
    const Head wanted = ((seen >> 32) + 1) << 32 | static_cast<unsigned>(nodes[index].next);  //~
    const Head found = atomicCAS(head, seen, wanted);
    if (found == seen) return nodes[index].value;
    seen = found;
  }
  return -1;
}

__global__ void fill(Node* nodes, Head* head) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  nodes[i].value = i;
  push(nodes, head, i);
}
__global__ void drain(Node* nodes, Head* head, int* seen) {
  const int value = pop(nodes, head);
  if (value >= 0) atomicAdd(seen + value, 1);
}
__global__ void fill_and_drain(Node* nodes, Head* head, int* seen) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  nodes[i].value = i;
  push(nodes, head, i);
  const int value = pop(nodes, head);
  if (value >= 0) atomicAdd(seen + value, 1);
}

int main() {
  const int n = 256;
  Buffer<Node> nodes(n);
  Buffer<Head> head(1);
  Buffer<int> seen(n);
  fill<<<4, 64>>>(nodes, head);
  drain<<<4, 64>>>(nodes, head, seen);
  fill_and_drain<<<4, 64>>>(nodes, head, seen);
  finish();
  bool is_right = (head[0] & 0xffffffff) == 0;
  for (const int times : seen) is_right &= times == 2;
  return verdict(is_right);
}
