// data-race: a wait for the copies
#include <cuda_pipeline.h>

#include "planted_program.hpp"

__global__ void one_group_too_many(const int* in, int* out) {
  __shared__ int share[2][kElements];
  const int t = threadIdx.x;
  for (int half = 0; half < 2; ++half) {
    __pipeline_memcpy_async(&share[half][t], in + half * kElements + t, sizeof(int));  //@
    __pipeline_commit();
  }
  __pipeline_wait_prior(1);
  __syncthreads();
  out[t] = share[0][t ^ 1] + share[1][t];  //@
  out[t + kElements] = 0;
}

int main() {
  Buffers buffers(2 * kElements);
  one_group_too_many<<<1, kElements>>>(buffers.in, buffers.out);
  return buffers.status(
      [](int i) { return i < kElements ? input_at(i ^ 1) + input_at(i + kElements) : 0; });
}
