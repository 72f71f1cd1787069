// Tiles of a block from 1 to 32 threads: shuffles, votes, ranks, reductions, scans, broadcasts.
// MUTANT: half of a warp does not come to its reduction.
// expect: barrier-divergence
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "check.hpp"

namespace cg = cooperative_groups;

struct Item {
  double weight;
  int index, rest;
};

__global__ void all(const int* data, int* out) {
  const cg::thread_block block = cg::this_thread_block();
  const auto warp = cg::tiled_partition<32>(block);
  const auto eight = cg::tiled_partition<8>(warp);
  const cg::thread_group any = cg::tiled_partition(block, 16);
  const int rank = block.thread_rank(), value = data[rank];
  int* const mine = out + 12 * rank;
#ifdef MUTANT
  if (eight.thread_rank() < 4) mine[0] = cg::reduce(warp, value, cg::plus<int>());  //~
#else
  mine[0] = cg::reduce(warp, value, cg::plus<int>());
#endif
  mine[1] = cg::reduce(eight, value, cg::greater<int>());  //~
  mine[2] = cg::inclusive_scan(eight, value, cg::plus<int>());
  mine[3] = cg::exclusive_scan(warp, value);
  mine[4] = cg::reduce(eight, value, [](int a, int b) { return a ^ b; });
  mine[5] = eight.shfl(value, 0) + eight.shfl_xor(value, 3);
  mine[6] = eight.any(value == 5) + 2 * eight.all(value >= 0) + 4 * eight.ballot(value % 2 == 1);
  mine[7] = eight.meta_group_rank() * 100 + eight.meta_group_size();
  mine[8] = cg::invoke_one_broadcast(eight, [&] { return value; }) >= 0;
  mine[9] = eight.shfl(Item{value / 2.0, rank, 0}, 2).index;
  mine[10] = warp.match_any(value % 3);
  mine[11] = any.size() + cg::tiled_partition<1>(block).size();
  eight.sync();
  block.sync();
}

int main() {
  const int n = 64;
  Buffer<int> data(n), out(12 * n);
  for (int i = 0; i < n; ++i) data[i] = i * 13 % 41;
  all<<<1, n>>>(data, out);
  finish();
  bool is_right = true;
  for (int i = 0; i < n; ++i) {
    const int* const mine = out + 12 * i;
    const int warp = i / 32 * 32, eight = i / 8 * 8;
    int sum = 0, most = 0, scan = 0, before = 0, parity = 0, ballot = 0;
    unsigned alike = 0;
    for (int j = warp; j < warp + 32; ++j) {
      sum += data[j];
      before += j < i ? data[j] : 0;
      alike |= (data[j] % 3 == data[i] % 3) << (j - warp);
    }
    bool any = false;
    for (int j = eight; j < eight + 8; ++j) {
      most = data[j] > most ? data[j] : most;
      scan += j <= i ? data[j] : 0;
      parity ^= data[j];
      any |= data[j] == 5;
      ballot |= (data[j] % 2 == 1) << (j - eight);
    }
    is_right &= mine[0] == sum && mine[1] == most && mine[2] == scan && mine[3] == before;
    is_right &= mine[4] == parity && mine[5] == data[eight] + data[eight + ((i - eight) ^ 3)];
    is_right &= mine[6] == any + 2 + 4 * ballot && mine[7] == (eight - warp) / 8 * 100 + 4;
    is_right &= mine[8] == 1 && mine[9] == eight + 2 && mine[11] == 17;
    is_right &= static_cast<unsigned>(mine[10]) == alike;
  }
  return verdict(is_right);
}
