// Histograms of bytes: how often each of the 256 values occurs.
//
// Both add to the counts that are there already; counts are unsigned and wrap around at 2^32.
// Any grid and any block do: threads step through the input by the number of all threads.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

inline constexpr int kHistogramBins = 256;

// counts[v] += how many of in[0..n) are v, modulo 2^32.  `counts` has 256 elements.
// One atomic addition to global memory for each byte.
cudaError_t histogram_global(const std::uint8_t* in, std::uint32_t* counts, int n, dim3 grid,
                             dim3 block);

// The same.  Each block counts in shared memory first, then adds its 256 sums to `counts`.
cudaError_t histogram_shared(const std::uint8_t* in, std::uint32_t* counts, int n, dim3 grid,
                             dim3 block);
