// data-race: the scope of the device
#include <cuda/atomic>

#include "planted_program.hpp"

__global__ void atomic_ref_of_block(const int* in, int* out) {
  cuda::atomic_ref<int, cuda::thread_scope_block> sum(*out);
  sum.fetch_add(in[blockIdx.x * blockDim.x + threadIdx.x], cuda::memory_order_relaxed);  //@
}

int main() {
  Buffers buffers;
  atomic_ref_of_block<<<4, 16>>>(buffers.in, buffers.out);
  int sum = 0;
  for (int i = 0; i < kElements; ++i) sum += input_at(i);
  return buffers.status([&](int i) { return i == 0 ? sum : 0; });
}
