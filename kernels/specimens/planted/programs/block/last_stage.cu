// data-race: a wait
#include <cuda_pipeline.h>

#include "planted_program.hpp"

__global__ void last_stage(const int* in, int* out) {
  __shared__ int stages[2][32];
  const int t = threadIdx.x;
  int sum = 0;
  __pipeline_memcpy_async(&stages[0][t], in + t, sizeof(int));
  __pipeline_commit();
  for (int k = 0; k < 2; ++k) {
    if (k == 0) {
      __pipeline_memcpy_async(&stages[1][t], in + 32 + t, sizeof(int));  //@
      __pipeline_commit();
    }
    __pipeline_wait_prior(1);
    __syncthreads();
    sum += stages[k][31 - t];  //@
    __syncthreads();
  }
  out[t] = sum;
}

int main() {
  Buffers buffers;
  last_stage<<<1, 32>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return i < 32 ? input_at(31 - i) + input_at(63 - i) : 0; });
}
