// Specimens: blocks that communicate through volatile variables and atomics alone, without the
// fences that would order them; and the same with fences.  No access races (PTX ISA 8.7.1), and a
// machine that executes one access after the other never shows a wrong result.
#pragma once

#include <cuda_runtime_api.h>

// What the blocks share: zero at the start.
struct SharedByBlocks {
  int flag[64];  // message_passing: [0]; look_back_scan: of each block
  int data[64];
  int next, serving, head, tail, count, total;
};

enum class Fences { none, both };

// out[i] = in[i], handed over by block 0 to block 1; n up to 64.
cudaError_t message_passing(const int* in, int* out, int n, SharedByBlocks* shared, Fences fences);

// The inclusive scan of n numbers by n blocks, each of which waits for the one before it; n up
// to 64.
cudaError_t look_back_scan(const int* in, int* out, int n, SharedByBlocks* shared, Fences fences);

// *out = the sum of n numbers, which n blocks add one after the other under a ticket lock.
cudaError_t ticket_lock(const int* in, int* out, int n, SharedByBlocks* shared, Fences fences);

// out[i] = 2 in[i]: block 0 puts n items into a queue, up to 64, from which the other `consumers`
// take.
cudaError_t work_queue(const int* in, int* out, int n, int consumers, SharedByBlocks* shared,
                       Fences fences);

// *out = the sum of n numbers, one a block; the block that comes last adds them.
cudaError_t last_block(const int* in, int* out, int n, SharedByBlocks* shared, Fences fences);
