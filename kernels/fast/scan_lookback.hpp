// Inclusive scan of any length in one pass (scan_lookback.cuh).
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/fast/size.hpp"

namespace fast {

// x -> factor * x + term, modulo 2^32.
struct Affine {
  std::uint32_t factor;
  std::uint32_t term;
  friend bool operator==(const Affine&, const Affine&) = default;
};

// Bytes of scratch memory, aligned to 16 and of any contents.
std::size_t scan_lookback_scratch(std::uint64_t n);

// out[i] = in[0] + ... + in[i] for i < n; in and out may be the same array.  Sums of floats depend
// on which prefixes a block finds, within rounding.
cudaError_t scan_lookback(const int* in, int* out, std::uint64_t n, void* scratch, Size size);
// Small blocks only.
cudaError_t scan_lookback(const float* in, float* out, std::uint64_t n, void* scratch);
// out[i] = in[0], then in[1] ... then in[i]: an operation that does not commute.  Small blocks
// only.
cudaError_t scan_lookback(const Affine* in, Affine* out, std::uint64_t n, void* scratch);

}  // namespace fast
