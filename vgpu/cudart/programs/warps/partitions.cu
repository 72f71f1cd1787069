// Tiles that lanes split by what they found: in two by a predicate, in several by a label; each
// part counts and sums with its own operations.
// MUTANT: the parts of a tile pass their sums on in shared memory without a barrier.
// expect: data-race
// arch: compute_80
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.hpp"

constexpr int kThreads = 64, kLabels = 3;

__global__ void split(const int* values, int* odd, int* labels) {
  namespace cg = cooperative_groups;
  __shared__ int sums[kThreads / 32][2];
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  const int value = values[blockIdx.x * kThreads + threadIdx.x];
  const bool is_odd = value % 2 != 0;
  if (tile.thread_rank() < 2) sums[threadIdx.x / 32][tile.thread_rank()] = 0;
  tile.sync();
  const auto part = cg::binary_partition(tile, is_odd);
  const int sum = cg::reduce(part, value, cg::plus<int>());
  if (part.thread_rank() == 0) sums[threadIdx.x / 32][is_odd] = sum;  //~
#ifndef MUTANT
  tile.sync();
#endif
  odd[blockIdx.x * kThreads + threadIdx.x] = sums[threadIdx.x / 32][!is_odd];  //~
  const auto same = cg::labeled_partition(tile, value % kLabels);
  labels[blockIdx.x * kThreads + threadIdx.x] = same.size() * 100 + same.thread_rank();
}

int main() {
  constexpr int kCount = 2 * kThreads;
  Buffer<int> values(kCount), odd(kCount), labels(kCount);
  for (int i = 0; i < kCount; ++i) values[i] = i * i % 23;
  split<<<2, kThreads>>>(values, odd, labels);
  finish();
  bool is_right = true;
  for (int first = 0; first < kCount; first += 32) {
    int sums[2] = {}, sizes[kLabels] = {}, ranks[kLabels] = {};
    for (int i = first; i < first + 32; ++i) {
      sums[values[i] % 2] += values[i];
      ++sizes[values[i] % kLabels];
    }
    for (int i = first; i < first + 32; ++i) {
      const int label = values[i] % kLabels;
      is_right &= odd[i] == sums[values[i] % 2 == 0];
      is_right &= labels[i] == sizes[label] * 100 + ranks[label]++;
    }
  }
  return verdict(is_right);
}
