// Inclusive scan by one block, one element a thread, two buffers.
#pragma once

#include <cuda_runtime_api.h>

// out[i] = in[0] + ... + in[i] for i < n <= block.x; in and out may be the same array.
cudaError_t scan_hillis_steele(const int* in, int* out, int n, dim3 block);
cudaError_t scan_hillis_steele(const float* in, float* out, int n, dim3 block);
