// Kernels with orders that nothing needs, planted, beside orders that are needed.
#pragma once

#include <cuda_runtime_api.h>

// Each has one block of `threads` >= n threads; out[i] is:
cudaError_t superfluous_reverse(const int* in, int* out, int n, int threads);  // in[n - 1 - i]
cudaError_t superfluous_sums(const int* in, int* out, int n, int threads);     // in[i] + in[i + 1]
cudaError_t superfluous_passes(const int* in, int* out, int n, int threads);   // 4 * in[i]
// How many of the n numbers are i modulo `threads`: data decides addresses.
cudaError_t superfluous_histogram(const int* in, int* out, int n, int threads);
// The number of threads, counted by atomic operations, for each thread: without its barrier there
// is no data race, but the count may be too low.
cudaError_t counted_threads(int* out, int n);
