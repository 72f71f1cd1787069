// Each thread builds a list on the device's heap, and one prints what it holds.
// prints: thread 5: 60, a text,  7.50
// MUTANT: the first node of a list is not told that it is the last.
// expect: uninitialized-read, out-of-bounds, invalid-free
#include "check.hpp"

struct Node {
  Node* next;
  int value;
};

__global__ void lists(int* sums) {
  Node* head = nullptr;
  for (int value = 1; value <= 4; ++value) {
    Node* const node = static_cast<Node*>(malloc(sizeof(Node)));
#ifdef MUTANT
    if (value != 1) node->next = head;
#else
    node->next = head;
#endif
    node->value = value * (threadIdx.x + 1);
    head = node;
  }
  int sum = 0;
  while (head != nullptr) {         //~
    sum += head->value;             //~
    Node* const next = head->next;  //~
    free(head);
    head = next;
  }
  if (threadIdx.x == 5) printf("thread %d: %d, %s, %5.2f\n", threadIdx.x, sum, "a text", sum / 8.0);
  sums[threadIdx.x] = sum;
}

int main() {
  constexpr int kThreads = 32;
  int out[kThreads];
  int* sums;
  require(cudaMalloc(&sums, sizeof out));
  lists<<<1, kThreads>>>(sums);
  require(cudaMemcpy(out, sums, sizeof out, cudaMemcpyDeviceToHost));

  bool is_right = true;
  for (int i = 0; i < kThreads; ++i) is_right &= out[i] == 10 * (i + 1);
  require(cudaFree(sums));
  return verdict(is_right);
}
