// Measured kernel: sum of each block by a tree.  Twin of tree_reduction.cl.
#pragma once

#include <cuda_runtime_api.h>

namespace bench {

inline constexpr int kReductionGroup = 256;  // threads of a block

// sums[b] = the sum of block b's elements.  n is a multiple of kReductionGroup; sums holds
// n / kReductionGroup elements.
cudaError_t tree_reduction(const int* in, int* sums, int n);

}  // namespace bench
