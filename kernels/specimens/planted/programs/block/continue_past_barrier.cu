// barrier-divergence:
#include "planted_program.hpp"

__global__ void continue_past_barrier(const int* in, int* out, int n) {
  __shared__ int share[kElements];
  const int t = threadIdx.x;
  int sum = 0;
#pragma unroll 1
  for (int base = 0; base < n; base += kElements) {
    if (base + t >= n) continue;
    share[t] = in[base + t];
    __syncthreads();  //@
    if (base + (t ^ 1) < n) sum += share[t ^ 1];
    __syncthreads();  //@
  }
  out[t] = sum;  //@
}

int main() {
  Buffers buffers(100);
  continue_past_barrier<<<1, kElements>>>(buffers.in, buffers.out, 100);
  return buffers.status([](int i) {
    if (i >= kElements) return 0;
    const int j = i ^ 1;
    return input_at(j) + (j + kElements < 100 ? input_at(j + kElements) : 0);
  });
}
