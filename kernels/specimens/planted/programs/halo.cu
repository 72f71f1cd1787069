// data-race: __syncthreads()
#include "planted_program.hpp"

__global__ void halo(const int* in, int* out, int n) {
  __shared__ int tile[kElements + 2];
  const int t = threadIdx.x;
  tile[t + 1] = in[t];  //@
  if (t == 0) tile[0] = 0;
  if (t == n - 1) tile[n + 1] = 0;
  out[t] = tile[t] + tile[t + 2];  //@
}

int main() {
  Buffers buffers;
  halo<<<1, kElements>>>(buffers.in, buffers.out, kElements);
  return buffers.status([](int i) {
    return (i == 0 ? 0 : input_at(i - 1)) + (i == kElements - 1 ? 0 : input_at(i + 1));
  });
}
