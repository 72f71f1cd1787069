// data-race: __threadfence()
#include <cuda/atomic>

#include "planted_program.hpp"

__device__ int value;
__device__ int ready;

__global__ void relaxed_flag(const int* in, int* out) {
  if (threadIdx.x != 0) return;
  cuda::atomic_ref<int, cuda::thread_scope_device> flag(ready);
  if (blockIdx.x == 0) {
    value = in[5];  //@
    flag.store(1, cuda::memory_order_relaxed);
    return;
  }
  while (flag.load(cuda::memory_order_acquire) == 0) {
  }
  out[0] = value;  //@
}

int main() {
  Buffers buffers;
  relaxed_flag<<<2, 32>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return i == 0 ? input_at(5) : 0; });
}
