// Threads pass by the barrier of their group (cooperative groups) and run on behind it: of a
// tile, of the block. Groups of those that come together, and whole tiles that do not come, are
// right.
// case tile: | | tile
// expect tile: error barrier-divergence tile_wait run
// case shuffle: | | shuffle
// expect shuffle: error barrier-divergence shuffle_wait run
// case block: | | block
// expect block: error barrier-divergence block_wait run
// case whole: | | whole
// expect whole: clean
// case together: | | together
// expect together: clean
// case grid: | | grid
// expect grid: error deadlock grid_wait
// says grid: 3 of 4 blocks have exited without arriving at this barrier of the grid
// case unoptimized_tile: -G | | tile
// expect unoptimized_tile: error barrier-divergence
// case unoptimized_block: -G | | block
// expect unoptimized_block: error barrier-divergence
// case unoptimized_together: -G | | together
// expect unoptimized_together: clean
#include <cooperative_groups.h>

#include <cstdio>
#include <cstring>

namespace cg = cooperative_groups;

enum class Where { tile, shuffle, block, whole, together };

__global__ void kernel(int* out, Where where) {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<8>(block);
  const int t = threadIdx.x;
  int v = t;
  if (where == Where::tile) {
    if (t % 8 < 5) tile.sync();  //~ tile_wait
  } else if (where == Where::shuffle) {
    if (t < 20) v = tile.shfl(v, 0);  //~ shuffle_wait
  } else if (where == Where::block) {
    if (t < 40) block.sync();  //~ block_wait
  } else if (where == Where::whole) {
    if (t < 24) v = tile.shfl(v, 0);
  } else if (t % 3 != 0) {
    const auto group = cg::coalesced_threads();
    group.sync();
    v = group.shfl(v, 0);
  }
  out[t] = v;  //~ run
}

__global__ void leaves_the_grid() {
  if (blockIdx.x != 0) return;
  cg::this_grid().sync();  //~ grid_wait
}

int main(int, char** arguments) {
  if (std::strcmp(arguments[1], "grid") == 0) {
    void* none[] = {nullptr};
    cudaLaunchCooperativeKernel(leaves_the_grid, dim3(4), dim3(32), none);
    cudaDeviceSynchronize();
    return 0;
  }
  const char* const names[] = {"tile", "shuffle", "block", "whole", "together"};
  int which = 0;
  while (std::strcmp(arguments[1], names[which]) != 0) ++which;
  int* out = nullptr;
  cudaMalloc(&out, 64 * sizeof(int));
  kernel<<<1, 64>>>(out, static_cast<Where>(which));
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(out);
  return 0;
}
