// data-race: cluster.sync()
#include <cooperative_groups.h>

#include "planted_program.hpp"

// Atomic zeros would end the race, and not the loss of what was counted before them.
__global__ void __cluster_dims__(2, 1, 1) counts_of_cluster(const int* in, int* out) {
  __shared__ int counts[8];
  cooperative_groups::cluster_group cluster = cooperative_groups::this_cluster();
  if (threadIdx.x < 8) counts[threadIdx.x] = 0;  //@
  __syncthreads();
  const int value = in[blockIdx.x * blockDim.x + threadIdx.x];
  atomicAdd(cluster.map_shared_rank(&counts[value % 8], value / 8), 1);  //@
  cluster.sync();
  if (threadIdx.x < 8) out[blockIdx.x * 8 + threadIdx.x] = counts[threadIdx.x];
}

int main() {
  Buffers buffers;
  counts_of_cluster<<<2, 32>>>(buffers.in, buffers.out);
  return buffers.status([](int i) {
    int count = 0;
    for (int element = 0; element < kElements; ++element) count += input_at(element) == i;
    return i < 16 ? count : 0;
  });
}
