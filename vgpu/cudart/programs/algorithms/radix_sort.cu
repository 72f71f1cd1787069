// Radix sort by hand: per bit, a ballot counts the ones of a warp, a block scans, and items move.
// MUTANT: the totals of the warps are read before all have been written.
// expect: data-race, uninitialized-read, out-of-bounds
#include <algorithm>
#include <vector>

#include "check.hpp"

constexpr int kThreads = 256;

__global__ void sort(unsigned* keys, int bits) {
  __shared__ unsigned values[kThreads];
  __shared__ int ones[kThreads / 32];
  unsigned key = keys[threadIdx.x];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  for (int bit = 0; bit < bits; ++bit) {
    const bool is_one = (key >> bit & 1) != 0;
    const unsigned ballot = __ballot_sync(~0u, is_one);
    if (lane == 0) ones[warp] = __popc(ballot);  //~
#ifndef MUTANT
    __syncthreads();
#endif
    int before = __popc(ballot & ((1u << lane) - 1)), all = 0;
    for (int i = 0; i < kThreads / 32; ++i) {
      if (i < warp) before += ones[i];  //~
      all += ones[i];                   //~
    }
    const int zeros = kThreads - all;
    values[is_one ? zeros + before : threadIdx.x - before] = key;
    __syncthreads();
    key = values[threadIdx.x];
    __syncthreads();
  }
  keys[threadIdx.x] = key;
}

int main() {
  Buffer<unsigned> keys(kThreads);
  for (int i = 0; i < kThreads; ++i) keys[i] = i * 40503u % 65521;
  std::vector<unsigned> expected(keys.begin(), keys.end());
  std::sort(expected.begin(), expected.end());
  sort<<<1, kThreads>>>(keys, 16);
  finish();
  return verdict(std::equal(expected.begin(), expected.end(), keys.begin()));
}
