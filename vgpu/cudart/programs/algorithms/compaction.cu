// Stream compaction with one atomic a warp: a ballot, a leader, a shuffle.
// MUTANT: the leader is always lane 0, which may not take part.
// expect: uninitialized-read, data-race
#include <algorithm>
#include <vector>

#include "check.hpp"

__device__ int warp_aggregated_index(int* counter) {
  const unsigned active = __activemask();
#ifdef MUTANT
  const int leader = 0;
#else
  const int leader = __ffs(active) - 1;
#endif
  const int lane = threadIdx.x % 32, rank = __popc(active & ((1u << lane) - 1));
  int base;
  if (lane == leader) base = atomicAdd(counter, __popc(active));
  return __shfl_sync(active, base, leader) + rank;  //~
}

__global__ void keep_positive(const int* in, int n, int* out, int* count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    if (in[i] > 0) out[warp_aggregated_index(count)] = in[i];  //~
  }
}

int main() {
  const int n = 3000;
  Buffer<int> in(n), out(n), count(1);
  for (int i = 0; i < n; ++i) in[i] = i * 7 % 29 - 14;
  keep_positive<<<4, 128>>>(in, n, out, count);
  finish();
  std::vector<int> expected, kept(out.begin(), out + count[0]);
  for (const int value : in) {
    if (value > 0) expected.push_back(value);
  }
  std::sort(expected.begin(), expected.end());
  std::sort(kept.begin(), kept.end());
  return verdict(kept == expected);
}
