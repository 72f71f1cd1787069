// Specimen, planted: a sum of floats that depends on the order in which threads come.
#pragma once

#include <cuda_runtime_api.h>

// *sum += in[0] + ... + in[n - 1], in the order of the schedule.  grid.x * block.x >= n.
cudaError_t planted_atomic_sum(const float* in, float* sum, int n, dim3 grid, dim3 block);
