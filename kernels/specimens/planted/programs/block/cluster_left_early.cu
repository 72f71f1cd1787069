// use-after-free: cluster.sync()
#include <cooperative_groups.h>

#include "planted_program.hpp"

namespace cg = cooperative_groups;

__global__ void __cluster_dims__(2, 1, 1) cluster_left_early(const int* in, int* out) {
  __shared__ int share[32];
  cg::cluster_group cluster = cg::this_cluster();
  const int t = threadIdx.x, rank = cluster.block_rank();
  share[t] = in[32 * rank + t];
  cluster.sync();
  const int* const other = cluster.map_shared_rank(share, rank ^ 1);
  out[32 * rank + t] = other[31 - t];  //@
}

int main() {
  Buffers buffers;
  cluster_left_early<<<2, 32>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return input_at((i / 32 ^ 1) * 32 + 31 - i % 32); });
}
