// Measured kernels: reads that the data place.
#pragma once

#include <cuda_runtime_api.h>

namespace bench {

// out[i] is a sum of eight numbers of `in`, each at the place that the one before names.  n is a
// power of two and a multiple of 256.
cudaError_t gather(const int* in, int* out, int n);
// out[i] is a sum of eight entries of a table of 256 in constant memory.
cudaError_t constant_table(const int* in, int* out, int n);

}  // namespace bench
