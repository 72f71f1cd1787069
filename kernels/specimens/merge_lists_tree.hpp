// Specimens: a merge by a tree with three defects, and with each of them alone.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// Meant: out = all n elements of `in` in ascending order.  With lists = block.x, elements l,
// l + lists, l + 2 * lists, ... of `in` are ascending for each l < lists.

// As published: all of the defects below.
cudaError_t merge_lists_tree_published(const std::uint32_t* in, std::uint32_t* out, int n,
                                       dim3 block);
// No barrier at the end of a round.
cudaError_t merge_lists_tree_no_barrier_published(const std::uint32_t* in, std::uint32_t* out,
                                                  int n, dim3 block);
// The winner of a subtree is taken for the list at its root.
cudaError_t merge_lists_tree_wrong_winner_published(const std::uint32_t* in, std::uint32_t* out,
                                                    int n, dim3 block);
// The number of lists is taken for a power of two.
cudaError_t merge_lists_tree_power_of_two_published(const std::uint32_t* in, std::uint32_t* out,
                                                    int n, dim3 block);
