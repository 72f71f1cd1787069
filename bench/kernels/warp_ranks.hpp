// Measured kernel: how radix sorts rank keys, by atomics of each warp in shared memory.
#pragma once

#include <cuda_runtime_api.h>

namespace bench {

// out[i] is the sum over four digits of `in[i]` of how many keys before it, in its warp and of this
// digit or an earlier one, have had the same digit.  n is a multiple of 256.
cudaError_t warp_ranks(const int* in, int* out, int n);

}  // namespace bench
