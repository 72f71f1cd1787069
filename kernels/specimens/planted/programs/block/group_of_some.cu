// data-race: __syncwarp()
#include <cooperative_groups.h>

#include "planted_program.hpp"

namespace cg = cooperative_groups;

__global__ void group_of_some(const int* in, int* out, int* count) {
  __shared__ int first[kElements / 32];
  const int t = threadIdx.x;
  if (in[t] % 2 == 0) {
    const auto group = cg::coalesced_threads();
    if (group.thread_rank() == 0)
      first[t / 32] = atomicAdd(count, static_cast<int>(group.size()));  //@
    out[first[t / 32] + group.thread_rank()] = 1;                        //@
  }
}

int main() {
  Buffers buffers;
  int* count = nullptr;
  cudaMalloc(&count, sizeof(int));
  cudaMemset(count, 0, sizeof(int));
  group_of_some<<<1, kElements>>>(buffers.in, buffers.out, count);
  cudaFree(count);
  return buffers.status([](int i) {
    int even = 0;
    for (int k = 0; k < kElements; ++k) even += input_at(k) % 2 == 0;
    return i < even ? 1 : 0;
  });
}
