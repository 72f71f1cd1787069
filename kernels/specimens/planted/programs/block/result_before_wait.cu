// data-race: __syncthreads()
#include <cuda/barrier>
#include <utility>

#include "planted_program.hpp"

using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void result_before_wait(const int* in, int* out) {
  __shared__ Barrier barrier;
  __shared__ int share[kElements];
  const int t = threadIdx.x;
  if (t == 0) init(&barrier, kElements);
  __syncthreads();
  share[t] = in[t];  //@
  auto token = barrier.arrive();
  out[t] = share[kElements - 1 - t];  //@
  barrier.wait(std::move(token));
}

int main() {
  Buffers buffers;
  result_before_wait<<<1, kElements>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return input_at(kElements - 1 - i); });
}
