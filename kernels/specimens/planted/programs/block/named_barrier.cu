// data-race: __syncthreads()
#include "planted_program.hpp"

__global__ void named_barrier(const int* in, int* out) {
  __shared__ int share[2 * kElements];
  const int t = threadIdx.x, role = t / kElements;
  share[t] = in[t];  //@
  asm volatile("bar.sync 1, 128;" ::: "memory");
  share[t] = 2 * share[(t + 1) % 128];  //@
  asm volatile("bar.sync 2, 128;" ::: "memory");
  out[t] = share[t ^ 64] + role * 0;
}

int main() {
  Buffers buffers(128);
  named_barrier<<<1, 128>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return 2 * input_at(((i ^ 64) + 1) % 128); });
}
