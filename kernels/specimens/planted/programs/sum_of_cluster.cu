// data-race: cluster.sync()
#include <cooperative_groups.h>

#include "planted_program.hpp"

__global__ void __cluster_dims__(2, 1, 1) sum_of_cluster(const int* in, int* out) {
  __shared__ int part;
  cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  if (threadIdx.x == 0) part = in[blockIdx.x];  //@
  if (threadIdx.x == 0 && cluster.block_rank() == 0) {
    out[0] = part + *cluster.map_shared_rank(&part, 1);  //@
  }
  cluster.sync();
}

int main() {
  Buffers buffers;
  sum_of_cluster<<<2, 32>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return i == 0 ? input_at(0) + input_at(1) : 0; });
}
