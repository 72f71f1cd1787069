// cuda::atomic of several types and scopes: release and acquire, wait and notify, fetch_max,
// flags, fences, atomic_ref on parts of arrays.
// MUTANT: the flag is set without a release.
// expect: data-race
#include <cuda/atomic>

#include "check.hpp"

using Flag = cuda::atomic<int, cuda::thread_scope_device>;
__device__ cuda::atomic<unsigned long long, cuda::thread_scope_device> wide{5};

__global__ void hand_over(Flag* flag, int* data, int* out) {
  if (blockIdx.x == 0) {
    *data = 42;  //~
#ifdef MUTANT
    flag->store(1, cuda::memory_order_relaxed);
#else
    flag->store(1, cuda::memory_order_release);
#endif
    flag->notify_all();
  } else {
    flag->wait(0, cuda::memory_order_acquire);
    out[blockIdx.x] = *data;  //~
  }
}

__global__ void combine(const int* values, int* bins, float* sum, double* most, short* small) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  cuda::atomic_ref<int, cuda::thread_scope_device>(bins[values[i] % 4]).fetch_add(1);
  cuda::atomic_ref<float>(*sum).fetch_add(0.5f, cuda::memory_order_relaxed);
  cuda::atomic_ref<double, cuda::thread_scope_device> largest(*most);
  double seen = largest.load();
  while (seen < values[i] && !largest.compare_exchange_weak(seen, values[i])) {
  }
  cuda::atomic_ref<short, cuda::thread_scope_device>(*small).fetch_add(2);
  wide.fetch_xor(1ull << (i % 64), cuda::memory_order_acq_rel);
}

int main() {
  const int n = 128;
  Flag* flag;
  require(cudaMallocManaged(&flag, sizeof *flag));
  new (flag) Flag(0);
  Buffer<int> data(1), out(4), values(n), bins(4);
  Buffer<float> sum(1);
  Buffer<double> most(1);
  Buffer<short> small(2);
  for (int i = 0; i < n; ++i) values[i] = i * 5 % 128;
  hand_over<<<4, 1>>>(flag, data, out);
  combine<<<2, n / 2>>>(values, bins, sum, most, small);
  finish();
  unsigned long long word;
  require(cudaMemcpyFromSymbol(&word, wide, sizeof word));
  bool is_right = word == 5 && sum[0] == n / 2 && most[0] == 127 && small[0] == 2 * n;
  for (int block = 1; block < 4; ++block) is_right &= out[block] == 42;
  for (const int count : bins) is_right &= count == n / 4;
  require(cudaFree(flag));
  return verdict(is_right);
}
