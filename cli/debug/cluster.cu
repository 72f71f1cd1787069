// Two blocks of a cluster, each of which writes to the other's shared memory.
#include <cstdio>

__global__ void __cluster_dims__(2) exchange(int* out) {
  __shared__ int from_other;
  if (threadIdx.x == 0) from_other = 0;
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  const unsigned own = __clusterRelativeBlockRank();
  if (threadIdx.x == 3) {
    *static_cast<int*>(__cluster_map_shared_rank(&from_other, own ^ 1)) =
        70 + static_cast<int>(own);
  }
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  if (threadIdx.x == 0) out[own] = from_other;
}

int main() {
  int *out = nullptr, host[2]{};
  cudaMalloc(&out, sizeof host);
  exchange<<<2, 32>>>(out);
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(out);
  std::printf("%d %d\n", host[0], host[1]);
}
