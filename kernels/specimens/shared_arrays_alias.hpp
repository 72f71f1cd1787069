// Specimen: two arrays of dynamic shared memory that are one.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// Meant: with lists = block.x, elements l, l + lists, l + 2 * lists, ... of out are those of in,
// sorted, for each l < lists.  n <= 6144, so that two arrays of n fit into 48 KiB.
cudaError_t shared_arrays_alias_published(const std::uint32_t* in, std::uint32_t* out, int n,
                                          dim3 block);
