// A binary tree in an array, summed by a function that calls itself.
// MUTANT: a node is a leaf only where its right child is missing, so the left one is read past
// the end.
// expect: out-of-bounds
#include "check.hpp"

constexpr int kNodes = 30;  // the last inner node has a left child only

__device__ __noinline__ int subtree_sum(const int* tree, int node, int nodes) {
#ifdef MUTANT
  if (node > nodes) return 0;
#else
  if (node >= nodes) return 0;
#endif
  return tree[node] + subtree_sum(tree, 2 * node + 1, nodes) +  //~
         subtree_sum(tree, 2 * node + 2, nodes);
}

__global__ void sum_of_subtrees(const int* tree, int* sum) {
  sum[threadIdx.x] = subtree_sum(tree, threadIdx.x, kNodes);
}

int sum_on_host(const int* tree, int node) {
  if (node >= kNodes) return 0;
  return tree[node] + sum_on_host(tree, 2 * node + 1) + sum_on_host(tree, 2 * node + 2);
}

int main() {
  int in[kNodes], out[kNodes];
  for (int i = 0; i < kNodes; ++i) in[i] = i * i - 100;
  int *tree, *sum;
  require(cudaMalloc(&tree, sizeof in));
  require(cudaMalloc(&sum, sizeof out));
  require(cudaMemcpy(tree, in, sizeof in, cudaMemcpyHostToDevice));
  sum_of_subtrees<<<1, kNodes>>>(tree, sum);
  require(cudaMemcpy(out, sum, sizeof out, cudaMemcpyDeviceToHost));

  bool is_right = true;
  for (int i = 0; i < kNodes; ++i) is_right &= out[i] == sum_on_host(in, i);
  require(cudaFree(sum));
  require(cudaFree(tree));
  return verdict(is_right);
}
