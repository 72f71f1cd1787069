// deadlock:
#include "planted_program.hpp"

__device__ unsigned address_of(const void* shared) {
  return static_cast<unsigned>(__cvta_generic_to_shared(shared));
}

__device__ void wait_for_phase(unsigned long long* barrier, int parity) {
  asm volatile(
      "{ .reg .pred done; Wait: mbarrier.try_wait.parity.shared.b64 done, [%0], %1; @!done bra "  //@
      "Wait; }" ::"r"(address_of(barrier)),
      "r"(parity)  //@
      : "memory");
}

__device__ void arrive(unsigned long long* barrier) {
  asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(address_of(barrier)) : "memory");
}

// Warp 0 produces, warp 1 consumes, in a ring of two slots that are empty at first.
__global__ void producer_waits_forever(const int* in, int* out) {
  __shared__ int slot[2][32];
  __shared__ alignas(8) unsigned long long full[2], empty[2];
  if (threadIdx.x == 0) {
    for (int k = 0; k < 2; ++k) {
      asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(address_of(&full[k])) : "memory");
      asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(address_of(&empty[k])) : "memory");
    }
  }
  __syncthreads();
  const int lane = threadIdx.x % 32;
  int sum = 0;
#pragma unroll 1
  for (int round = 0; round < 4; ++round) {
    if (threadIdx.x < 32) {
      wait_for_phase(&empty[round % 2], (round / 2) & 1);  //@
      slot[round % 2][lane] = in[round * 32 + lane];
      arrive(&full[round % 2]);
    } else {
      wait_for_phase(&full[round % 2], (round / 2) & 1);  //@
      sum += slot[round % 2][31 - lane];
      arrive(&empty[round % 2]);
    }
  }
  if (threadIdx.x >= 32) out[lane] = sum;
}

int main() {
  Buffers buffers(4 * 32);
  producer_waits_forever<<<1, 64>>>(buffers.in, buffers.out);
  return buffers.status([](int i) {
    int sum = 0;
    for (int round = 0; round < 4; ++round) sum += input_at(round * 32 + 31 - i);
    return i < 32 ? sum : 0;
  });
}
