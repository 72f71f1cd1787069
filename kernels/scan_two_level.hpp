// Inclusive scan of up to width * width elements in blocks of width: scan every block, select the
// block sums, scan those by one block, add them.
#pragma once

#include <cuda_runtime_api.h>

// out[i] = in[0] + ... + in[i] for i < n.  grid.x * block.x >= n, grid.x <= block.x;
// `sums` is scratch memory of grid.x elements.
cudaError_t scan_two_level(const int* in, int* out, int* sums, int n, dim3 grid, dim3 block);
cudaError_t scan_two_level(const float* in, float* out, float* sums, int n, dim3 grid, dim3 block);
