// Inclusive scan in one pass: tiles are taken by a ticket, and look back at the sums of those
// before, which are published with a status by one 64-bit word.
// MUTANT: sum and status are published by two plain stores.
// expect: data-race
#include "check.hpp"

constexpr int kThreads = 128;
constexpr unsigned long long kPartial = 1ull << 32, kPrefix = 2ull << 32;

struct Tile {
  unsigned long long word;
  int sum, status;
};

__device__ void publish(volatile Tile* tile, unsigned long long status, unsigned sum) {
#ifdef MUTANT
  ((Tile*)tile)->sum = sum;  //~
  tile->word = status | sum;
#else
  tile->word = status | sum;
#endif
}

__global__ void scan(const unsigned* in, unsigned* out, int n, volatile Tile* tiles, int* tickets) {
  __shared__ int tile;
  __shared__ unsigned sums[kThreads], before;
  if (threadIdx.x == 0) tile = atomicAdd(tickets, 1);
  __syncthreads();
  const int i = tile * kThreads + threadIdx.x;
  sums[threadIdx.x] = i < n ? in[i] : 0;
  __syncthreads();
  for (int distance = 1; distance < kThreads; distance *= 2) {
    const unsigned other = threadIdx.x >= distance ? sums[threadIdx.x - distance] : 0;
    __syncthreads();
    sums[threadIdx.x] += other;
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    const unsigned total = sums[kThreads - 1];
    publish(tiles + tile, tile == 0 ? kPrefix : kPartial, total);
    unsigned sum = 0;
    for (int at = tile - 1; at >= 0;) {
      const unsigned long long word = tiles[at].word;
      if (word == 0) continue;
#ifdef MUTANT
      sum += ((Tile*)tiles)[at].sum;  //~
#else
      sum += static_cast<unsigned>(word);
#endif
      if ((word & kPrefix) != 0) break;
      --at;
    }
    before = sum;
    if (tile != 0) publish(tiles + tile, kPrefix, sum + total);
  }
  __syncthreads();
  if (i < n) out[i] = before + sums[threadIdx.x];
}

int main() {
  const int n = 5000, tiles = (n + kThreads - 1) / kThreads;
  Buffer<unsigned> in(n), out(n);
  Buffer<Tile> states(tiles, Tile{});
  Buffer<int> tickets(1);
  for (int i = 0; i < n; ++i) in[i] = i % 11;
  scan<<<tiles, kThreads>>>(in, out, n, states, tickets);
  finish();
  bool is_right = true;
  unsigned sum = 0;
  for (int i = 0; i < n; ++i) is_right &= out[i] == (sum += in[i]);
  return verdict(is_right);
}
