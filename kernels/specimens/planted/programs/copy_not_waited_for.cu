// data-race: a wait for the copies
#include <cuda_pipeline.h>

#include "planted_program.hpp"

__global__ void copy_not_waited_for(const int* in, int* out) {
  __shared__ int share[kElements];
  __pipeline_memcpy_async(&share[threadIdx.x], &in[threadIdx.x], sizeof(int));  //@
  __pipeline_commit();
  out[threadIdx.x] = 5 * share[threadIdx.x];  //@
}

int main() {
  Buffers buffers;
  copy_not_waited_for<<<1, kElements>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return 5 * input_at(i); });
}
