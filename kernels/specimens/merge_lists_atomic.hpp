// Specimen: a merge whose round begins while threads are still reading the last round's winner.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// Meant: out = all n elements of `in` in ascending order.  With lists = block.x, elements l,
// l + lists, l + 2 * lists, ... of `in` are ascending for each l < lists.
cudaError_t merge_lists_atomic_published(const std::uint32_t* in, std::uint32_t* out, int n,
                                         dim3 block);
