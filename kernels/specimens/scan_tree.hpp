// Specimen: a tree scan that assumes a power of two.
#pragma once

#include <cuda_runtime_api.h>

// Meant: out[i] = in[0] + ... + in[i] for i < n <= block.x.  Wrong for blocks of 3, 6-7, 12-15,
// 20-31, 36-63 ... threads; right for powers of two and by luck for 5, 9-11, 17-19, 33-35 ...
cudaError_t scan_tree_published(const int* in, int* out, int n, dim3 block);
