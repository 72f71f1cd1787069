// Relaxation in one cooperative launch until little changes.  Each step sums its changes.
// MUTANT: blocks begin a step, and add to its sum, while the first thread may still clear the sum.
// expect: data-race
#include <cooperative_groups.h>
#include <algorithm>
#include <cmath>
#include <vector>

#include "check.hpp"

namespace cg = cooperative_groups;

__device__ float changes[2];

__global__ void relax(const float* begin, float* from, float* to, int n, float enough, int* steps) {
  const cg::grid_group grid = cg::this_grid();
  const int i = grid.thread_rank();
  from[i] = to[i] = begin[i];
  grid.sync();
  float change = 2 * enough;
  for (int step = 0; change > enough; ++step) {
    if (i > 0 && i < n - 1) to[i] = (from[i - 1] + from[i + 1]) / 2;
    float sum = fabsf(to[i] - from[i]);
    for (int lanes = 16; lanes > 0; lanes /= 2) sum += __shfl_xor_sync(~0u, sum, lanes);
    if (threadIdx.x == 0) atomicAdd(&changes[step % 2], sum);  //~
    grid.sync();
    change = changes[step % 2];
    if (i == 0) {
      changes[(step + 1) % 2] = 0;  //~
      *steps = step + 1;
    }
#ifndef MUTANT
    grid.sync();
#endif
    float* const read = from;
    from = to;
    to = read;
  }
}

int main() {
  int n = 96;
  Buffer<float> begin(n), from(n), to(n);
  Buffer<int> steps(1);
  for (int i = 0; i < n; ++i) begin[i] = i == 3 ? 1 : 0;
  float enough = 1.5;
  float *pbegin = begin, *pfrom = from, *pto = to;
  int* psteps = steps;
  void* arguments[] = {&pbegin, &pfrom, &pto, &n, &enough, &psteps};
  require(cudaLaunchCooperativeKernel((void*)relax, dim3(3), dim3(32), arguments));
  finish();

  std::vector<float> old(begin.begin(), begin.end()), now = old;
  float change = 2 * enough;
  int expected = 0;
  for (; change > enough; ++expected) {
    change = 0;
    for (int i = 1; i < n - 1; ++i) {
      now[i] = (old[i - 1] + old[i + 1]) / 2;
      change += std::fabs(now[i] - old[i]);
    }
    std::swap(old, now);
  }
  const float* result = expected % 2 != 0 ? pto : pfrom;
  bool is_right = steps[0] == expected;
  for (int i = 0; i < n; ++i) is_right &= result[i] == old[i];
  return verdict(is_right);
}
