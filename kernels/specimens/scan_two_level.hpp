// Specimen: a scan over blocks whose middle step has too many threads, and whose last step races.
#pragma once

#include <cuda_runtime_api.h>

// Meant: out[i] = in[0] + ... + in[i] for i < n.  grid.x * block.x >= n, grid.x <= block.x;
// `sums` is scratch memory of grid.x elements.
cudaError_t scan_two_level_published(const int* in, int* out, int* sums, int n, dim3 grid,
                                     dim3 block);
