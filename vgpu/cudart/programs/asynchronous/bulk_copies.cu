// Bulk copies to shared memory counted by an mbarrier, and back to global memory; both proxies.
// arch: compute_90
// MUTANT: no proxy fence before the results are copied back.
// expect: data-race
#include <cuda/barrier>
#include <cuda/ptx>
#include <utility>

#include "check.hpp"

namespace ptx = cuda::ptx;
constexpr int kCount = 256;

__global__ void add_one(const int* in, int* out) {
  __shared__ alignas(128) int values[kCount];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    ptx::fence_proxy_async(ptx::space_shared);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    cuda::memcpy_async(values, in + blockIdx.x * kCount, cuda::aligned_size_t<16>(sizeof values),
                       barrier);
  }
  barrier.arrive_and_wait();
  for (int i = threadIdx.x; i < kCount; i += blockDim.x) values[i] += 1;  //~
#ifndef MUTANT
  ptx::fence_proxy_async(ptx::space_shared);
#endif
  __syncthreads();
  if (threadIdx.x == 0) {
    int* const to = out + blockIdx.x * kCount;
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, to, values, sizeof values);  //~
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
  }
}

int main() {
  Buffer<int> in(3 * kCount), out(3 * kCount);
  for (int i = 0; i < 3 * kCount; ++i) in[i] = i * i;
  add_one<<<3, 64>>>(in, out);
  finish();
  bool is_right = true;
  for (int i = 0; i < 3 * kCount; ++i) is_right &= out[i] == i * i + 1;
  return verdict(is_right);
}
