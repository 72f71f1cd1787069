// Compensated products of matrices (kahan_matmul_fast.cuh).
#pragma once

#include <cuda_runtime_api.h>

namespace fast {

// c = a b, n x n by rows, off by at most what the sequential compensated sum of the products is.
cudaError_t kahan_matmul_fast(const float* a, const float* b, float* c, unsigned n);
// The same with sums in double, off by the rounding of the result: faster where doubles are.
cudaError_t wide_matmul_fast(const float* a, const float* b, float* c, unsigned n);

}  // namespace fast
