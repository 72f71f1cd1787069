// Sorts by one block: each thread sorts an interleaved list of its own, then the lists are merged.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// out = the n elements of `in` in ascending order, by block.x lists, of any number.  One block;
// `scratch` has 2 * n elements; arrays do not overlap.  Floats are in the total order of IEEE 754:
// negative NaNs, -infinity ... -0, +0 ... infinity, positive NaNs; every payload is kept.
cudaError_t radix_sort(const std::uint32_t* in, std::uint32_t* out, std::uint32_t* scratch, int n,
                       dim3 block);
cudaError_t radix_sort(const std::int32_t* in, std::int32_t* out, std::uint32_t* scratch, int n,
                       dim3 block);
cudaError_t radix_sort(const float* in, float* out, std::uint32_t* scratch, int n, dim3 block);

// Keys in ascending order, each with its value; values of equal keys stay in their order.
cudaError_t radix_sort_by_key(const std::uint32_t* keys, const std::uint32_t* values,
                              std::uint32_t* sorted_keys, std::uint32_t* sorted_values,
                              std::uint64_t* scratch, int n, dim3 block);
