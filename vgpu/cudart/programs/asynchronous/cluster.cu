// A histogram whose bins are spread over the shared memory of the blocks of a cluster.
// arch: compute_90
// MUTANT: no barrier of the cluster between counting and reading the counts.
// expect: data-race, use-after-free
#include <cooperative_groups.h>

#include "check.hpp"

constexpr int kThreads = 64, kBlocks = 4, kBinsPerBlock = 32, kValues = 2000;
constexpr int kBins = kBlocks * kBinsPerBlock;

__global__ void __cluster_dims__(kBlocks, 1, 1) histogram(const int* values, int* counts) {
  __shared__ int bins[kBinsPerBlock];
  const auto cluster = cooperative_groups::this_cluster();
  for (int i = threadIdx.x; i < kBinsPerBlock; i += kThreads) bins[i] = 0;
  cluster.sync();
  for (unsigned i = cluster.thread_rank(); i < kValues; i += cluster.num_threads()) {
    const int bin = values[i];
    int* const theirs = cluster.map_shared_rank(bins, bin / kBinsPerBlock);
    atomicAdd(theirs + bin % kBinsPerBlock, 1);  //~
  }
#ifndef MUTANT
  cluster.sync();
#endif
  for (int i = threadIdx.x; i < kBinsPerBlock; i += kThreads) {
    counts[cluster.block_rank() * kBinsPerBlock + i] = bins[i];  //~
  }
}

int main() {
  int in[kValues], out[kBins], expected[kBins] = {};
  for (int i = 0; i < kValues; ++i) in[i] = i * i % kBins;
  for (const int value : in) ++expected[value];
  int *values, *counts;
  require(cudaMalloc(&values, sizeof in));
  require(cudaMalloc(&counts, sizeof out));
  require(cudaMemcpy(values, in, sizeof in, cudaMemcpyHostToDevice));
  histogram<<<kBlocks, kThreads>>>(values, counts);
  require(cudaMemcpy(out, counts, sizeof out, cudaMemcpyDeviceToHost));
  bool is_right = true;
  for (int i = 0; i < kBins; ++i) is_right &= out[i] == expected[i];
  require(cudaFree(counts));
  require(cudaFree(values));
  return verdict(is_right);
}
