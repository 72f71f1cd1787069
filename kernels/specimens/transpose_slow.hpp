// Transposes that are right and slow, as texts about shared memory show them first.
#pragma once

#include <cuda_runtime_api.h>

// out[column * rows + row] = in[row * columns + column] for all rows and columns.

// Without shared memory: each lane of a warp writes to another row.
cudaError_t transpose_naive(const int* in, int* out, int rows, int columns);
// Through tiles whose columns lie in one bank each.
cudaError_t transpose_unpadded(const int* in, int* out, int rows, int columns);
