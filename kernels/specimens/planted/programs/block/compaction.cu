// data-race: __syncwarp()
#include "planted_program.hpp"

__global__ void compaction(const int* in, int* out) {
  __shared__ int odd_ones[kElements];
  const int t = threadIdx.x, lane = t % 32;
  const unsigned odd = __ballot_sync(0xffffffff, in[t] & 1);
  if ((in[t] & 1) != 0) odd_ones[t - lane + __popc(odd & ((1u << lane) - 1))] = in[t];  //@
  out[t] = lane < __popc(odd) ? odd_ones[t] : 0;                                        //@
}

int main() {
  Buffers buffers;
  compaction<<<1, kElements>>>(buffers.in, buffers.out);
  return buffers.status([](int i) {
    int before = i % 32;
    for (int j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) {
      if (input_at(j) % 2 == 1 && before-- == 0) return input_at(j);
    }
    return 0;
  });
}
