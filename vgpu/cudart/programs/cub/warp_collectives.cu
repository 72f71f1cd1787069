// CUB's collectives of a warp and data movement of a block: reduce, scan, exchange, load and
// store.
// MUTANT: the block loads from the second item on.
// expect: out-of-bounds
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>

#include "check.hpp"

constexpr int kThreads = 64, kItems = 4;

__global__ void collect(const int* data, int* out, int* sums) {
  using Load = cub::BlockLoad<int, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using Store = cub::BlockStore<int, kThreads, kItems, cub::BLOCK_STORE_TRANSPOSE>;
  using Reduce = cub::WarpReduce<int>;
  using Scan = cub::WarpScan<int, 16>;
  __shared__ union {
    Load::TempStorage load;
    Store::TempStorage store;
  } storage;
  __shared__ Reduce::TempStorage reduce[kThreads / 32];
  __shared__ Scan::TempStorage scan[kThreads / 16];
  int items[kItems], sum = 0;
#ifdef MUTANT
  data += 1;
#endif
  Load(storage.load).Load(data, items);  //~
  __syncthreads();
  for (int& item : items) sum += item, item *= 2;
  const int all = Reduce(reduce[threadIdx.x / 32]).Sum(sum);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = all;
  int before;
  Scan(scan[threadIdx.x / 16]).ExclusiveSum(sum, before);
  sums[2 + threadIdx.x] = before;
  Store(storage.store).Store(out, items);
}

int main() {
  const int n = kThreads * kItems;
  Buffer<int> data(n), out(n), sums(2 + kThreads);
  for (int i = 0; i < n; ++i) data[i] = i % 23;
  collect<<<1, kThreads>>>(data, out, sums);
  finish();
  bool is_right = true;
  int all[2] = {}, before = 0;
  for (int i = 0; i < n; ++i) {
    is_right &= out[i] == 2 * data[i];
    all[i / (n / 2)] += data[i];
    if (i % (16 * kItems) == 0) before = 0;
    if (i % kItems == 0) is_right &= sums[2 + i / kItems] == before;
    before += data[i];
  }
  return verdict(is_right && sums[0] == all[0] && sums[1] == all[1]);
}
