// data-race:
#include "planted_program.hpp"

__device__ unsigned address_of(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

__device__ void wait_for_phase(unsigned long long* arrived, int parity) {
  asm volatile(
      "{ .reg .pred done; Wait: mbarrier.try_wait.parity.shared.b64 done, [%0], %1; @!done bra "
      "Wait; }" ::"r"(address_of(arrived)),
      "r"(parity)
      : "memory");
}

__global__ void parity_never_flips(const int* in, int* out) {
  __shared__ alignas(16) int share[kElements];
  __shared__ alignas(8) unsigned long long arrived;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address_of(&arrived)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  int sum = 0;
#pragma unroll 1
  for (int round = 0; round < 2; ++round) {
    if (threadIdx.x == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address_of(&arrived)),
                   "n"(sizeof(share))
                   : "memory");
      asm volatile(  //@
          "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
          "[%3];" ::"r"(address_of(share)),
          "l"(in + round * kElements), "n"(sizeof(share)), "r"(address_of(&arrived))  //@
          : "memory");
    }
    wait_for_phase(&arrived, 0);
    sum += share[threadIdx.x];  //@
    __syncthreads();
  }
  out[threadIdx.x] = sum;
}

int main() {
  Buffers buffers(2 * kElements);
  parity_never_flips<<<1, kElements>>>(buffers.in, buffers.out);
  return buffers.status(
      [](int i) { return i < kElements ? input_at(i) + input_at(i + kElements) : 0; });
}
