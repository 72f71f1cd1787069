// Measured kernels: blocks that communicate.  The cost of the race checker must grow with the
// accesses, not with the number of blocks.
#pragma once

#include <cuda_runtime_api.h>

namespace bench {

inline constexpr int kCommunicationGroup = 256;  // threads of a block

// The argument of each kernel: `out` has kCommunicationHead elements and one for each block, all 0
// before the first launch.
inline constexpr int kCommunicationHead = 8;

// out[0] = in[0] + ... + in[n - 1].  n is a multiple of kCommunicationGroup.
cudaError_t last_block_sum(const int* in, int* out, int n);  // fences and a ticket
cudaError_t volatile_sum(const int* in, int* out, int n);    // the same, all of it volatile
cudaError_t locked_sum(const int* in, int* out, int n);      // a lock around `+=`
cudaError_t chained_sum(const int* in, int* out, int n);     // each block waits for the one before
// In rounds of 16 blocks with a grid barrier after each; every block reads all results of a round.
cudaError_t grid_barrier_sum(const int* in, int* out, int n);

}  // namespace bench
