// Measured kernel: 256-bin histogram, shared atomics within a block.  Twin of histogram.cl.
#pragma once

#include <cuda_runtime_api.h>

namespace bench {

inline constexpr int kBins = 256;  // and threads of a block

// Adds to counts[b] the number of elements in in[0 .. n-1] whose low byte is b.  n is a multiple of
// kBins; counts holds kBins elements, set by the caller.
cudaError_t histogram(const int* in, int* counts, int n);

// The same with a __threadfence() at the end.
cudaError_t histogram_fenced(const int* in, int* counts, int n);

// The same with a __threadfence() at the beginning.
cudaError_t histogram_releasing(const int* in, int* counts, int n);

}  // namespace bench
