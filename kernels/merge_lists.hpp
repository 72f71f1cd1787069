// Merges interleaved sorted lists, in two ways.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// With lists = block.x, of any number: elements l, l + lists, l + 2 * lists, ... of `in` are
// ascending for each l < lists; out becomes all n elements of `in` in ascending order.  One block;
// `in` and `out` do not overlap.

// In every round all heads meet in atomicMin, then the numbers of all lists that have the smallest.
cudaError_t merge_lists_atomic(const std::uint32_t* in, std::uint32_t* out, int n, dim3 block);

// In every round a tree finds the smallest head.
cudaError_t merge_lists_tree(const std::uint32_t* in, std::uint32_t* out, int n, dim3 block);
