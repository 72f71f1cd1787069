// Transposes a matrix through tiles in shared memory: rows are read and written by neighbouring
// threads, and a tile has a column more than it needs, so that its columns lie in different banks
// (Ruetsch and Micikevicius 2009, "Optimizing Matrix Transpose in CUDA").
#pragma once

#include <cuda_runtime_api.h>

// out[column * rows + row] = in[row * columns + column] for all rows and columns.
cudaError_t transpose(const int* in, int* out, int rows, int columns);
