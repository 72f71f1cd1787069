// data-race: __syncwarp()
#include <cooperative_groups.h>

#include "planted_program.hpp"

namespace cg = cooperative_groups;

__global__ void group_of_sixteen(const int* in, int* out) {
  __shared__ int share[kElements];
  const auto group = cg::tiled_partition<16>(cg::this_thread_block());
  int* const mine = share + threadIdx.x / 16 * 16;
  mine[group.thread_rank()] = in[threadIdx.x];        //@
  out[threadIdx.x] = mine[15 - group.thread_rank()];  //@
}

int main() {
  Buffers buffers;
  group_of_sixteen<<<1, kElements>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return input_at(i / 16 * 16 + 15 - i % 16); });
}
