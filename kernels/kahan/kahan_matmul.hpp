// Compensated multiplication of square matrices: one thread an element, 256 threads a block.
//
// Element (i, j) is a compensated sum (Kahan 1965) of a[i][k] * b[k][j] in ascending order of k.
// Its error is at most about 3u * sum|a[i][k] * b[k][j]| and the rounding of the products, at most
// u times the same sum, u = 2^-24: harness/pair/error_bounds.hpp derives it.  Where the compiler
// fuses the product with the subtraction that follows, as it may by default, the products do not
// round. What is not an ordinary number:
//   NaN         in row i or column j gives NaN, and so does 0 times an infinity.
//   infinities  give NaN, unless the infinite product is the last: an infinity's compensation is
//               inf - inf.  Plain summation would have given the infinity.
//   overflow    of a product or of a partial sum likewise, even where the element is in range.
//   subnormals  are factors like others; products below 2^-126 round to multiples of 2^-149.
// Under -use_fast_math subnormals are read and written as zeros: the bound holds for the product
// of the flushed matrices, and grows by 2^-126 for every operation.
#pragma once

#include <cuda_runtime_api.h>

#include <ctime>

inline constexpr int kKahanMatmulThreads = 256;
inline int kahan_matmul_blocks(int n) {
  return (n * n + kKahanMatmulThreads - 1) / kKahanMatmulThreads;
}

// c = a * b, n x n matrices by rows, 0 <= n <= 46,340; c is another array than a and b.
// cycles[i], for each of kahan_matmul_blocks(n) blocks: the clock cycles from the beginning to the
// end of the block's first thread, by its own clock().  The suffix names the build.
cudaError_t kahan_matmul(const float* a, const float* b, float* c, int n,
                         clock_t* cycles);  // -fmad=false
cudaError_t kahan_matmul_contracted(const float* a, const float* b, float* c, int n,
                                    clock_t* cycles);  // the default
cudaError_t kahan_matmul_fast_math(const float* a, const float* b, float* c, int n,
                                   clock_t* cycles);  // -use_fast_math
