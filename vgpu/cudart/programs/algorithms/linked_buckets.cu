// A hash table with a list in each bucket: nodes are pushed by their threads, and each thread of
// the next launch counts and sums one list.
// MUTANT: a node that is already in its list is pushed once more: the list leads back to it.
// expect: deadlock
#include "check.hpp"

constexpr int kNodes = 300, kBuckets = 16;

struct Node {
  int value, next;  // -1: the last one
};

__global__ void push(Node* nodes, int* heads) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= kNodes) return;
  nodes[i].value = i;
  int* const head = heads + i % kBuckets;
  int seen = atomicAdd(head, 0);
  while (true) {
    nodes[i].next = seen;
    const int found = atomicCAS(head, seen, i);
    if (found == seen) return;
    seen = found;
  }
}

#ifdef MUTANT
__global__ void push_again(Node* nodes, int* heads, int i) {
  nodes[i].next = heads[i % kBuckets];
  heads[i % kBuckets] = i;
}
#endif

__global__ void sum(const Node* nodes, const int* heads, int* lengths, int* sums) {
  int length = 0, total = 0;
  for (int at = heads[threadIdx.x]; at != -1; at = nodes[at].next) {  //~
    total += nodes[at].value;                                         //~
    ++length;
  }
  lengths[threadIdx.x] = length;
  sums[threadIdx.x] = total;
}  //~

int main() {
  Buffer<Node> nodes(kNodes);
  Buffer<int> heads(kBuckets, -1), lengths(kBuckets), sums(kBuckets);
  push<<<3, 128>>>(nodes, heads);
#ifdef MUTANT
  push_again<<<1, 1>>>(nodes, heads, 37);
#endif
  sum<<<1, kBuckets>>>(nodes, heads, lengths, sums);
  finish();
  int length = 0, total = 0;
  for (int i = 0; i < kBuckets; ++i) length += lengths[i], total += sums[i];
  return verdict(length == kNodes && total == kNodes * (kNodes - 1) / 2);
}
