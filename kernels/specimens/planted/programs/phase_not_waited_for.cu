// data-race: a wait for the phase of parity 0
#include "planted_program.hpp"

__device__ unsigned address_of(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

__global__ void phase_not_waited_for(const int* in, int* out) {
  __shared__ alignas(16) int share[kElements];
  __shared__ alignas(8) unsigned long long arrived;
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(address_of(&arrived)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address_of(&arrived)),
                 "n"(sizeof(share))
                 : "memory");
    asm volatile(  //@
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(address_of(share)),
        "l"(in), "n"(sizeof(share)), "r"(address_of(&arrived))  //@
        : "memory");
  }
  out[threadIdx.x] = 3 * share[threadIdx.x];  //@
}

int main() {
  Buffers buffers;
  phase_not_waited_for<<<1, kElements>>>(buffers.in, buffers.out);
  return buffers.status([](int i) { return 3 * input_at(i); });
}
