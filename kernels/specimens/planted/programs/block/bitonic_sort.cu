// data-race: __syncthreads()
#include "planted_program.hpp"

__global__ void bitonic_sort(const int* in, int* out) {
  __shared__ int share[kElements];
  const int t = threadIdx.x;
  share[t] = in[t];
  __syncthreads();
  for (int size = 2; size <= kElements; size *= 2) {
    for (int distance = size / 2; distance > 0; distance /= 2) {
      const int other = t ^ distance;
      if (other > t) {
        const int a = share[t], b = share[other];  //@
        const bool up = (t & size) == 0;
        if ((a > b) == up) {
          share[t] = b;      //@
          share[other] = a;  //@
        }
      }
    }
    __syncthreads();
  }
  out[t] = share[t];
}

int main() {
  Buffers buffers;
  bitonic_sort<<<1, kElements>>>(buffers.in, buffers.out);
  int counts[16] = {};
  for (int i = 0; i < kElements; ++i) ++counts[input_at(i)];
  return buffers.status([&](int i) {
    int value = 0;
    for (int seen = counts[0]; seen <= i; seen += counts[++value]) {
    }
    return value;
  });
}
