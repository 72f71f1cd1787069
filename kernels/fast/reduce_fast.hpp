// Reductions of any length in one launch (reduce_fast.cuh), and by the same kernel a compensated
// sum.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/fast/size.hpp"

namespace fast {

// Bytes of scratch memory, aligned to 16.  The first four are 0 before the first launch, and are
// again after each.
std::size_t reduce_fast_scratch(unsigned blocks);

// What index_of_maximum puts out where there is no number.
constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

// By at most `blocks` blocks, which are small ones unless a size is asked for.
cudaError_t sum_fast(const int* in, int* out, std::uint64_t n, void* scratch, unsigned blocks,
                     Size size);
// Of floats the same bits under every schedule, for the same number of blocks.
cudaError_t sum_fast(const float* in, float* out, std::uint64_t n, void* scratch, unsigned blocks);
// Of the numbers: NaN is left out, and +0 is greater than -0; a NaN where there is no number.
cudaError_t maximum_fast(const float* in, float* out, std::uint64_t n, void* scratch,
                         unsigned blocks);
// INT_MAX of nothing.
cudaError_t minimum_fast(const int* in, int* out, std::uint64_t n, void* scratch, unsigned blocks);
// The first of the greatest numbers.
cudaError_t index_of_maximum_fast(const float* in, std::uint64_t* out, std::uint64_t n,
                                  void* scratch, unsigned blocks);
// Off by u |sum| and terms in u^2 (reduce_operations.cuh).  The plain sum where that is not finite.
cudaError_t kahan_sum_fast(const float* in, float* out, std::uint64_t n, void* scratch,
                           unsigned blocks);

}  // namespace fast
