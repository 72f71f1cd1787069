// Sorts interleaved lists, each by one thread.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// With lists = block.x: elements l, l + lists, l + 2 * lists, ... of out are those of in, sorted,
// for each l < lists.  One block; `scratch` has n elements; in and out may be the same array.
cudaError_t radix_sort_lists(const std::uint32_t* in, std::uint32_t* out, std::uint32_t* scratch,
                             int n, dim3 block);
