// Tiles of more than a warp, which need memory of the block, and a reduction of each.
// notes: data-race
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "check.hpp"

namespace cg = cooperative_groups;

__global__ void reduce(const int* data, int* sums) {
  __shared__ cg::block_tile_memory<256> memory;
  const auto block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<64>(block);
  const int value = data[block.thread_rank()];
  const int sum = cg::reduce(tile, value, cg::plus<int>());
  const bool any = tile.any(value == 77);
  tile.sync();
  sums[block.thread_rank()] = sum + 10000 * any + 100000 * (tile.shfl(value, 40) % 2);
}

int main() {
  const int n = 256;
  Buffer<int> data(n), sums(n);
  for (int i = 0; i < n; ++i) data[i] = i;
  reduce<<<1, n>>>(data, sums);
  finish();
  bool is_right = true;
  for (int i = 0; i < n; ++i) {
    int sum = 0;
    for (int j = i / 64 * 64; j < i / 64 * 64 + 64; ++j) sum += data[j];
    is_right &= sums[i] == sum + 10000 * (i / 64 == 1);
  }
  return verdict(is_right);
}
