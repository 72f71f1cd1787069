// Inclusive scan of any number of elements: the block sums are scanned in the same way, level by
// level, until one block holds them all.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>

// Elements of scratch memory that scan_multi_level needs.  block.x >= 2.
std::size_t scan_multi_level_scratch(int n, dim3 block);

// out[i] = in[0] + ... + in[i] for i < n; in and out may be the same array.
// cudaErrorInvalidValue for a block of one thread: its levels would never become shorter.
cudaError_t scan_multi_level(const int* in, int* out, int* scratch, int n, dim3 block);
cudaError_t scan_multi_level(const float* in, float* out, float* scratch, int n, dim3 block);
