// Specimen: a maximum that is finished on the host, which copies too much.
#pragma once

#include <cuda_runtime_api.h>

// Meant: *out, in host memory, = the largest of in[0..n).  `scratch` has grid.x elements in device
// memory, one for each block; n are copied.
cudaError_t reduce_max_host_finish_published(const int* in, int* out, int* scratch, int n,
                                             dim3 grid, dim3 block);
