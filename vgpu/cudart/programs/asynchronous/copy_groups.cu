// cp.async by the pipeline primitives and by PTX in line: groups, waits for all but one, partial
// copies that fill with zeros.
// arch: compute_80
// MUTANT: the last group is not waited for.
// expect: data-race
#include <cuda_pipeline.h>

#include "check.hpp"

constexpr int kThreads = 64, kTiles = 5;

__global__ void add_tiles(const int4* data, int4* sums) {
  __shared__ int4 tiles[2][kThreads];
  const int t = threadIdx.x;
  const auto fetch = [&](int tile) {
    __pipeline_memcpy_async(&tiles[tile % 2][t], data + tile * kThreads + t, sizeof(int4));  //~
    __pipeline_commit();
  };
  fetch(0);
  int4 sum = make_int4(0, 0, 0, 0);
  for (int tile = 0; tile < kTiles; ++tile) {
    if (tile + 1 < kTiles) fetch(tile + 1);
#ifdef MUTANT
    __pipeline_wait_prior(1);
#else
    __pipeline_wait_prior(tile + 1 < kTiles ? 1 : 0);
#endif
    __syncthreads();
    const int4 other = tiles[tile % 2][kThreads - 1 - t];  //~
    sum.x += other.x, sum.y += other.y, sum.z += other.z, sum.w += other.w;
    __syncthreads();
  }
  sums[t] = sum;
}

__global__ void partial(const int* data, int n, int* out) {
  __shared__ int copy[kThreads];
  const unsigned to = __cvta_generic_to_shared(copy + threadIdx.x);
  const int bytes = threadIdx.x < n ? 4 : 0;
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(to), "l"(data + threadIdx.x),
               "r"(bytes));
  asm volatile("cp.async.commit_group;");
  asm volatile("cp.async.wait_group 0;" ::: "memory");
  __syncthreads();
  out[threadIdx.x] = copy[threadIdx.x ^ 1];
}

int main() {
  Buffer<int4> data(kTiles * kThreads), sums(kThreads);
  Buffer<int> numbers(kThreads), out(kThreads);
  for (int i = 0; i < kTiles * kThreads; ++i) data[i] = make_int4(i, 2 * i, i % 3, 1);
  for (int i = 0; i < kThreads; ++i) numbers[i] = i + 5;
  add_tiles<<<1, kThreads>>>(data, sums);
  partial<<<1, kThreads>>>(numbers, 40, out);
  finish();
  bool is_right = true;
  for (int i = 0; i < kThreads; ++i) {
    int sum = 0;
    for (int tile = 0; tile < kTiles; ++tile) sum += tile * kThreads + kThreads - 1 - i;
    is_right &= sums[i].x == sum && sums[i].y == 2 * sum && sums[i].w == kTiles;
    is_right &= out[i] == ((i ^ 1) < 40 ? (i ^ 1) + 5 : 0);
  }
  return verdict(is_right);
}
