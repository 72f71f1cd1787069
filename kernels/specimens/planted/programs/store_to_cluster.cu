// data-race: cluster.sync()
#include <cooperative_groups.h>

#include "planted_program.hpp"

__global__ void __cluster_dims__(2, 1, 1) store_to_cluster(const int* in, int* out) {
  __shared__ int share[32];
  cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  const int t = threadIdx.x, i = blockIdx.x * 32 + t;
  share[t] = 0;
  cluster.sync();
  cluster.map_shared_rank(share, 1 - blockIdx.x % 2)[t] = in[i];  //@
  out[i] = share[t];                                              //@
}

int main() {
  Buffers buffers;
  store_to_cluster<<<2, 32>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return input_at(i ^ 32); });
}
