// Groups that branches and labels make: coalesced threads, labelled and binary partitions; one
// atomic a group.
// MUTANT: a thread that is no member adds for the group.
// expect: data-race
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "check.hpp"

namespace cg = cooperative_groups;

__global__ void count(const int* data, int* bins, int* ranks, int* sums) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, value = data[i];
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto alike = cg::labeled_partition(warp, value % 4);
  if (alike.thread_rank() == 0) atomicAdd(bins + value % 4, alike.size());
  const auto half = cg::binary_partition(warp, value % 2 == 0);
  ranks[i] = half.thread_rank() + 100 * half.num_threads();
  sums[i] = 0;
  if (value % 3 == 0) {
    const auto active = cg::coalesced_threads();
    const int scan = cg::inclusive_scan(active, value),
              sum = cg::reduce(active, value, cg::plus<int>());
    sums[i] = scan + 1000 * sum;
#ifdef MUTANT
    bins[4] += active.size();  //~
#else
    if (active.thread_rank() == 0) atomicAdd(bins + 4, active.size());
#endif
  }
}

int main() {
  const int n = 256;
  Buffer<int> data(n), bins(5), ranks(n), sums(n);
  for (int i = 0; i < n; ++i) data[i] = i * 11 % 37;
  count<<<2, n / 2>>>(data, bins, ranks, sums);
  finish();
  int expected[5] = {};
  bool is_right = true;
  for (int i = 0; i < n; ++i) {
    ++expected[data[i] % 4];
    expected[4] += data[i] % 3 == 0;
    int rank = 0, size = 0, scan = 0, sum = 0;
    for (int j = i / 32 * 32; j < i / 32 * 32 + 32; ++j) {
      const bool in_half = data[j] % 2 == data[i] % 2;
      size += in_half;
      rank += in_half && j < i;
      if (data[j] % 3 == 0) sum += data[j], scan += j <= i ? data[j] : 0;
    }
    is_right &= ranks[i] == rank + 100 * size;
    is_right &= sums[i] == (data[i] % 3 == 0 ? scan + 1000 * sum : 0);
  }
  for (int bin = 0; bin < 5; ++bin) is_right &= bins[bin] == expected[bin];
  return verdict(is_right);
}
