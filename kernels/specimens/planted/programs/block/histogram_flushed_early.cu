// data-race: __syncthreads()
#include "planted_program.hpp"

__global__ void histogram_flushed_early(const int* in, int* out, int n) {
  __shared__ int bins[16];
  for (int i = threadIdx.x; i < 16; i += blockDim.x) bins[i] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&bins[in[i]], 1);                                                    //@
  for (int i = threadIdx.x; i < 16; i += blockDim.x) atomicAdd(&out[i], bins[i]);  //@
}

int main() {
  Buffers buffers(200);
  histogram_flushed_early<<<2, 64>>>(buffers.in, buffers.out, 200);
  int counts[16] = {};
  for (int i = 0; i < 200; ++i) ++counts[input_at(i)];
  return buffers.status([&](int i) { return i < 16 ? counts[i] : 0; });
}
