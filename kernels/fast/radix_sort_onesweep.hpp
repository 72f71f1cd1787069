// Radix sort of any length up to 2^30, one sweep over the data for each digit
// (radix_sort_onesweep.cuh).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/fast/size.hpp"

namespace fast {

// Bytes of scratch memory, aligned to 16 and of any contents.
std::size_t radix_sort_onesweep_scratch(std::uint64_t n);

// out = the n keys of `in` in ascending order.  Arrays do not overlap.  By small blocks unless a
// size is asked for.  Floats are in the total order of IEEE 754: negative NaNs, -infinity ... -0,
// +0 ... infinity, positive NaNs; every payload is kept.
cudaError_t radix_sort_onesweep(const std::uint32_t* in, std::uint32_t* out, std::uint64_t n,
                                void* scratch, Size size);
cudaError_t radix_sort_onesweep(const std::int32_t* in, std::int32_t* out, std::uint64_t n,
                                void* scratch);
cudaError_t radix_sort_onesweep(const float* in, float* out, std::uint64_t n, void* scratch);
cudaError_t radix_sort_onesweep(const std::uint64_t* in, std::uint64_t* out, std::uint64_t n,
                                void* scratch);
cudaError_t radix_sort_onesweep(const double* in, double* out, std::uint64_t n, void* scratch);

// Keys in ascending order, each with its value; values of equal keys stay in their order.
cudaError_t radix_sort_onesweep_by_key(const std::uint32_t* keys, const std::uint32_t* values,
                                       std::uint32_t* sorted_keys, std::uint32_t* sorted_values,
                                       std::uint64_t n, void* scratch);

}  // namespace fast
