// Measured kernels: typical loops over floats.  `in` holds small integers.
#pragma once

#include <cuda_runtime_api.h>

namespace bench {

inline constexpr int kMatrixSide = 256;
inline constexpr int kBodies = 1024;

// The product of two matrices of kMatrixSide rows and columns, one after the other in `in`, by
// tiles of 16 x 16 in shared memory.
cudaError_t matrix_product(const int* in, int* out, int n);

// The mean of each element of a square of n elements and its four neighbours; edges do not change.
// n is the square of a multiple of 32.
cudaError_t stencil(const int* in, int* out, int n);

// The attraction of each of kBodies to the others; four elements of `in` are a body.
cudaError_t bodies(const int* in, int* out, int n);

}  // namespace bench
