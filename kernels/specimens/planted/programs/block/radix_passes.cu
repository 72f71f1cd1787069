// data-race: __syncthreads()
#include "planted_program.hpp"

__global__ void radix_passes(const int* in, int* out) {
  __shared__ int zeros[kElements + 1], keys[kElements];
  const int t = threadIdx.x;
  keys[t] = in[t];
  for (int bit = 0; bit < 4; ++bit) {
    __syncthreads();
    const int key = keys[t], is_zero = ((key >> bit) & 1) == 0;
    zeros[t + 1] = is_zero;
    if (t == 0) zeros[0] = 0;
    __syncthreads();
    for (int distance = 1; distance <= kElements; distance *= 2) {
      const int before = t + 1 >= distance ? zeros[t + 1 - distance] : 0;
      __syncthreads();
      zeros[t + 1] += before;
      __syncthreads();
    }
    keys[is_zero != 0 ? zeros[t] : t - zeros[t] + zeros[kElements]] = key;  //@
  }
  out[t] = keys[t];  //@
}

int main() {
  Buffers buffers;
  radix_passes<<<1, kElements>>>(buffers.in, buffers.out);
  return buffers.status([](int i) {
    int counts[16] = {}, key = 0;
    for (int j = 0; j < kElements; ++j) ++counts[input_at(j)];
    while (i >= counts[key]) i -= counts[key++];
    return key;
  });
}
