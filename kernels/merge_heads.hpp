// Merges sorted lists in one block: each thread holds out the head of its list, one of them takes
// the least.  The arrays through which they exchange stand in shared memory, or on the device heap.
#pragma once

#include <cuda_runtime_api.h>

// Merges `lists` sorted lists, the t-th of which is in[t], in[t + lists], ... below n, into
// out[0] ... out[n - 1].  One block of `lists` threads, at most 1,024.
cudaError_t merge_heads_shared(const unsigned* in, unsigned* out, int n, int lists);

// The same with one allocation on the device heap, made and freed by one thread for all.
cudaError_t merge_heads_new(const unsigned* in, unsigned* out, int n, int lists);
