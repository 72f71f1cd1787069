// Measured kernel: Hillis-Steele scan of each block, two buffers.  Twin of block_scan.cl.
#pragma once

#include <cuda_runtime_api.h>

namespace bench {

inline constexpr int kGroup = 256;  // threads of a block, as in the OpenCL kernels

// out[i] = in[j] + ... + in[i], j the first element of i's block.  n is a multiple of kGroup.
cudaError_t block_scan(const int* in, int* out, int n);

// The same with a __threadfence() at the end.
cudaError_t block_scan_fenced(const int* in, int* out, int n);

}  // namespace bench
