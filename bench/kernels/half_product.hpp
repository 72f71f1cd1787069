// Measured kernel: asynchronous copies.
#pragma once

#include <cuda_runtime_api.h>

namespace bench {

inline constexpr int kHalfSide = 128;

// The product of two matrices of halves of kHalfSide rows and columns, one after the other in `in`,
// by tiles of 32 x 32 that are copied asynchronously into two buffers of shared memory in turn.
cudaError_t half_product(const int* in, int* out, int n);

}  // namespace bench
