// Specimen: a scan of pairs that steps over the end of odd arrays and assumes a power of two.
#pragma once

#include <cuda_runtime_api.h>

// Meant: out[i] = in[0] + ... + in[i] for i < n <= 2 * block.x.  Reads in[n] and writes out[n]
// where n is odd.  Wrong for blocks of 3, 6-7, 10-15, 18-31 ... threads.
cudaError_t scan_pairs_published(const int* in, int* out, int n, dim3 block);
