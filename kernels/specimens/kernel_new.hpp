// Specimen: a merge whose author took `new` in a kernel for shared memory.
#pragma once

#include <cuda_runtime_api.h>

// Meant: merges `lists` sorted lists, the t-th of which is in[t], in[t + lists], ... below n, into
// out[0] ... out[n - 1].  One block of `lists` threads, at most 1,024.  Right for one list alone;
// never gives its memory back; needs more than the device heap has from 1,023 lists on.
cudaError_t kernel_new_published(const unsigned* in, unsigned* out, int n, int lists);
