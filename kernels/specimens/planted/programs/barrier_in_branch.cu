// barrier-divergence: the barrier of
#include "planted_program.hpp"

__global__ void barrier_in_branch(const int* in, int* out, int n) {
  __shared__ int share[kElements];
  const int t = threadIdx.x;
  if (t < n / 2) {
    share[t] = in[t];
    share[n - 1 - t] = in[n - 1 - t];
    __syncthreads();  //@
  }
  out[t] = share[n - 1 - t];  //@
}

int main() {
  Buffers buffers;
  barrier_in_branch<<<1, kElements>>>(buffers.in, buffers.out, kElements);
  return buffers.status([](int i) { return input_at(kElements - 1 - i); });
}
