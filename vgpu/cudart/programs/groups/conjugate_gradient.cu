// Conjugate gradients in one cooperative launch: all dot products are sums over the grid.
// MUTANT: the grid does not wait before a sum is read.
// expect: data-race
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cmath>

#include "check.hpp"

namespace cg = cooperative_groups;

__device__ void dot(const cg::grid_group& grid, const float* a, const float* b, int n,
                    double* result) {
  double sum = 0;
  for (int i = grid.thread_rank(); i < n; i += grid.size()) sum += double(a[i]) * b[i];
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  sum = cg::reduce(warp, sum, cg::plus<double>());
  if (warp.thread_rank() == 0) atomicAdd(result, sum);  //~
}

__global__ void solve(int n, const float* b, float* x, float* r, float* p, float* ap,
                      double* sums) {
  const cg::grid_group grid = cg::this_grid();
  for (int i = grid.thread_rank(); i < n; i += grid.size()) x[i] = 0, r[i] = p[i] = b[i];
  dot(grid, b, b, n, sums);
  grid.sync();
  for (int step = 0; step < 40 && sums[2 * step] > 1e-10; ++step) {
    double* const now = sums + 2 * step;
    for (int i = grid.thread_rank(); i < n; i += grid.size()) {
      ap[i] = 2.5f * p[i] - (i > 0 ? p[i - 1] : 0) - (i + 1 < n ? p[i + 1] : 0);
    }
    grid.sync();
    dot(grid, p, ap, n, now + 1);
#ifndef MUTANT
    grid.sync();
#endif
    const float alpha = now[0] / now[1];  //~
    for (int i = grid.thread_rank(); i < n; i += grid.size())
      x[i] += alpha * p[i], r[i] -= alpha * ap[i];
    grid.sync();
    dot(grid, r, r, n, now + 2);
    grid.sync();
    const float beta = now[2] / now[0];
    for (int i = grid.thread_rank(); i < n; i += grid.size()) p[i] = r[i] + beta * p[i];
    grid.sync();
  }
}

int main() {
  int n = 200, blocks = 0;
  Buffer<float> b(n, 1), x(n), r(n), p(n), ap(n);
  Buffer<double> sums(100);
  require(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, solve, 64, 0));
  float *pb = b, *px = x, *pr = r, *pp = p, *pap = ap;
  double* psums = sums;
  void* arguments[] = {&n, &pb, &px, &pr, &pp, &pap, &psums};
  require(cudaLaunchCooperativeKernel((void*)solve, dim3(blocks < 3 ? blocks : 3), dim3(64),
                                      arguments));
  finish();
  bool is_right = true;
  for (int i = 0; i < n; ++i) {
    const float left = 2.5f * x[i] - (i > 0 ? x[i - 1] : 0) - (i + 1 < n ? x[i + 1] : 0);
    is_right &= std::abs(left - 1) < 1e-4f;
  }
  return verdict(is_right);
}
