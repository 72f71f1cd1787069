// Merges interleaved sorted lists by one block with a thread for each list: in every round a tree
// over the heads of the lists finds the smallest.
#pragma once

#include <cstddef>

#include "kernels/dynamic_shared.cuh"

// Dynamic shared memory that merge_lists_by_tree() needs.
template <class Record>
constexpr std::size_t merge_by_tree_shared_bytes(unsigned lists) {
  return lists * (sizeof(Record) + sizeof(int));
}

inline constexpr int kNoList = -1;

// Which of two lists has the smaller head; kNoList stands for an exhausted one.  No value of a
// record means "exhausted", so records of any value are merged.
template <class Record>
__device__ int list_of_smaller_head(const Record* heads, int a, int b) {
  if (a == kNoList) return b;
  if (b == kNoList) return a;
  return heads[b] < heads[a] ? b : a;
}

// Calls take(i, record) for i = 0 ... n - 1, in ascending order of the records.  With lists =
// blockDim.x, of any number: elements l, l + lists, ... of `records` are ascending.  Every thread
// of the block must call; what the threads wrote to `records` must be ordered before.
template <class Record, class Take>
__device__ void merge_lists_by_tree(const Record* records, int n, Take take) {
  const int list = static_cast<int>(threadIdx.x);
  const int lists = static_cast<int>(blockDim.x);
  Record* const heads = dynamic_shared<Record>();
  int* const winners = reinterpret_cast<int*>(heads + lists);
  int next = list;
  for (int i = 0; i < n; ++i) {
    if (next < n) heads[list] = records[next];
    winners[list] = next < n ? list : kNoList;
    __syncthreads();
    // The upper half, less the middle one of an odd number, is folded onto the lower half.
    for (int width = lists; width > 1;) {
      const int half = (width + 1) / 2;
      if (list + half < width) {
        winners[list] = list_of_smaller_head(heads, winners[list], winners[list + half]);
      }
      width = half;
      __syncthreads();
    }
    if (winners[0] == list) {
      take(i, heads[list]);
      next += lists;
    }
    __syncthreads();
  }
}
