// Histograms of bytes and of 32-bit keys (histogram_fast.cuh).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "kernels/fast/size.hpp"

namespace fast {

// counts[v] += how often v occurs among the n bytes, modulo 2^32, for each of the 256.
cudaError_t histogram_bytes(const std::uint8_t* in, std::uint32_t* counts, std::uint64_t n,
                            unsigned blocks, Size size);
// counts[k] += how often k occurs among the n keys, for k < bins; greater keys are left out.
cudaError_t histogram_keys(const std::uint32_t* in, std::uint32_t* counts, std::uint64_t n,
                           unsigned bins, unsigned blocks);

}  // namespace fast
