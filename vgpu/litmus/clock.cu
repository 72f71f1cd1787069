// The device's clock: it runs while a warp waits, and never backwards.
#include "vgpu/litmus/litmus.hpp"

using warpcheck::litmus::zeroed;

// expect: clean
__global__ void waits_by_clock(int* out) {
  const clock_t start = clock();
  while (clock() - start < 100) {
  }
  out[threadIdx.x] = 1;
}
LITMUS(waits_by_clock) { waits_by_clock<<<1, 64>>>(zeroed<int>(64)); }

// expect: clean
__global__ void reads_clock_after_divergence(int* out) {
  for (unsigned i = 0; i < threadIdx.x % 8; ++i) out[threadIdx.x] += 1;
  const clock_t before = clock();
  __syncthreads();
  if (clock() <= before) __trap();
}
LITMUS(reads_clock_after_divergence) {
  reads_clock_after_divergence<<<1, 33>>>(zeroed<int>(33));
}

// expect: trap
__global__ void trusts_a_clock_to_stand_still() {
  const clock_t before = clock();
  if (clock() != before) __trap();          //~ trap
}
LITMUS(trusts_a_clock_to_stand_still) { trusts_a_clock_to_stand_still<<<1, 1>>>(); }
