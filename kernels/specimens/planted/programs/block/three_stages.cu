// data-race: __syncthreads()
#include "planted_program.hpp"

__global__ void three_stages(const int* in, int* out) {
  __shared__ int a[kElements], b[kElements], c[kElements];
  const int t = threadIdx.x;
  a[t] = in[t];                        //@
  b[t] = 2 * a[(t + 33) % kElements];  //@
  c[t] = b[(t + 31) % kElements] + 1;
  out[t] = c[kElements - 1 - t];
}

int main() {
  Buffers buffers;
  three_stages<<<1, kElements>>>(buffers.in, buffers.out);
  return buffers.status([](int i) {
    const int j = kElements - 1 - i;
    return 2 * input_at((j + 64) % kElements) + 1;
  });
}
