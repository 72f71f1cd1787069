// Specimen: a histogram by shared atomics that is right for blocks of 256 threads alone.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

// Meant: counts[v] += how many of in[0..n) are v, modulo 2^32.  `counts` has 256 elements.
// A block of more threads steps over the end of its counters and of `counts`; a block of b < 256
// threads counts in memory that was not set to 0, and leaves counts[b..256) as they were.
cudaError_t histogram_shared_published(const std::uint8_t* in, std::uint32_t* counts, int n,
                                       dim3 grid, dim3 block);
