// data-race:
#include <cooperative_groups.h>

#include "planted_program.hpp"

__global__ void reversed_by_grid(const int* in, int* middle, int* out, int n) {
  const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  middle[i] = in[i];           //@
  out[i] = middle[n - 1 - i];  //@
  grid.sync();
}

int main() {
  Buffers buffers, more;
  int n = kElements;
  void* arguments[] = {&buffers.in, &more.out, &buffers.out, &n};
  cudaLaunchCooperativeKernel(reversed_by_grid, dim3(2), dim3(32), arguments);
  return buffers.status([](int i) { return input_at(kElements - 1 - i); });
}
