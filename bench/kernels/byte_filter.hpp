// Measured kernel: arithmetic of bytes and 16-bit integers, as image filters have it.
#pragma once

#include <cuda_runtime_api.h>

namespace bench {

// `in` is a row of 4 * n bytes, a pixel of which has three colours and a flag.  out[i] is the
// clamped contrast of the grey values of pixel i and its neighbours.  n is a multiple of 256.
cudaError_t byte_filter(const int* in, int* out, int n);

}  // namespace bench
