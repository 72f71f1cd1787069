// Specimen: a maximum over shared memory that is right for one length of array alone.
#pragma once

#include <cuda_runtime_api.h>

// Meant: *out = the largest of in[0..n), n <= block.x; one block; the shared array has `length`
// elements, length >= block.x.  Takes 0 for the largest of negative numbers where n < block.x;
// steps over the end of the shared array where `length` is no power of two; reads elements that
// no thread has written where `length` is above block.x.
cudaError_t reduce_max_published(const int* in, int* out, int n, int length, dim3 block);
