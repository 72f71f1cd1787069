// Sorts by one block with comparison networks: which elements are compared depends on the length
// alone.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

// The most elements.
inline constexpr int kSortNetworkMax = 2048;

// out = in in ascending order, for n <= kSortNetworkMax, by any number of threads; in and out may
// be the same array.  No element is a NaN.
//
// Bitonic (Batcher, "Sorting networks and their applications", AFIPS 1968), by min and max.
cudaError_t bitonic_sort(const int* in, int* out, int n, dim3 block);
cudaError_t bitonic_sort(const float* in, float* out, int n, dim3 block);
// Odd-even merges (the same paper), by a comparison that selects.
cudaError_t odd_even_merge_sort(const std::uint32_t* in, std::uint32_t* out, int n, dim3 block);
