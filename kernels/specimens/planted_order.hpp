// Specimen, planted: a defect behind an order of events that no schedule meets by chance.
#pragma once

#include <cuda_runtime_api.h>

// *out = value; but when three reads of one warp fall each between two certain writes of another,
// out[1] is written too.  One block of 64 threads.
cudaError_t planted_order(int value, int* out);
