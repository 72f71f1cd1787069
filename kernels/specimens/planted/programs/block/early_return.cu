// uninitialized-read: share = 0
#include "planted_program.hpp"

__global__ void early_return(const int* in, int* out, int n) {
  __shared__ int share[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  share[threadIdx.x] = in[i];
  __syncthreads();
  out[i] = share[31 - threadIdx.x];  //@
}

int main() {
  Buffers buffers(50);
  early_return<<<2, 32>>>(buffers.in, buffers.out, 50);
  return buffers.status([](int i) {
    const int j = i / 32 * 32 + 31 - i % 32;
    return j < 50 ? input_at(j) : 0;
  });
}
