// Where the order of threads shows, and where it does not.  `every schedule`: proved by the
// instructions alone.  `no finding`: the order shows in results, and decides nothing.  `times in
// results`: the same, by the instructions alone.
#include <cooperative_groups.h>

#include "vgpu/litmus/proofs/proof_data.hpp"

using warpcheck::litmus::zeroed;

namespace order_decides {

// order: every schedule
__global__ void meets_at_barriers(int* out) {
  __shared__ int s[64];
  s[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  out[threadIdx.x] = s[63 - threadIdx.x];
}
LITMUS(meets_at_barriers) { meets_at_barriers<<<1, 64>>>(zeroed<int>(64)); }

// Unoptimised, atomicAdd() is a function whose registers this one takes over.
__device__ __noinline__ void leaves(unsigned* where, unsigned what) { *where = what; }

// order: every schedule
__global__ void reduces_integers(unsigned* out, unsigned* sums) {
  __shared__ unsigned sum;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  atomicAdd(&sum, threadIdx.x);
  __syncthreads();
  if (threadIdx.x != 0) return;
  atomicAdd(out, sum);
  leaves(sums + blockIdx.x, sum);
}
LITMUS(reduces_integers) { reduces_integers<<<3, 64>>>(zeroed<unsigned>(1), zeroed<unsigned>(3)); }

// order: no finding
__global__ void adds_floats(float* out) {
  atomicAdd(out, 0.1f * static_cast<float>(threadIdx.x));  //~ shows
}
LITMUS(adds_floats) { adds_floats<<<2, 64>>>(zeroed<float>(1)); }

// order: times in results
__global__ void takes_times(int* out) {
  out[blockIdx.x * 64 + threadIdx.x] = static_cast<int>(clock());  //~ shows
}
LITMUS(takes_times) { takes_times<<<2, 64>>>(zeroed<int>(128)); }

// order: no finding
__global__ void keeps_old_values(int* next, int* out) {
  out[blockIdx.x * 64 + threadIdx.x] = atomicAdd(next, 1);  //~ shows
}
LITMUS(keeps_old_values) { keeps_old_values<<<2, 64>>>(zeroed<int>(1), zeroed<int>(128)); }

// order: no finding
__global__ void adds_and_maximises(int* out) {
  atomicAdd(out, 1);
  atomicMax(out, static_cast<int>(threadIdx.x));  //~ shows
}
LITMUS(adds_and_maximises) { adds_and_maximises<<<2, 64>>>(zeroed<int>(1)); }

// order: decides
__global__ void takes_tickets(int* next, int* out) {
  out[atomicAdd(next, 1)] = 1;  //~ decides
}
LITMUS(takes_tickets) { takes_tickets<<<2, 64>>>(zeroed<int>(1), zeroed<int>(128)); }

// order: decides
__global__ void branches_on_a_clock(int* out) {
  if ((clock() & 1) == 0) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(branches_on_a_clock) { branches_on_a_clock<<<1, 64>>>(zeroed<int>(64)); }

// order: decides
__global__ void reads_a_flag(volatile int* flag, int* out) {
  if (threadIdx.x == 0) *flag = 1;
  if (*flag != 0) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(reads_a_flag) { reads_a_flag<<<1, 64>>>(zeroed<int>(1), zeroed<int>(64)); }

// order: decides
__global__ void fences(int* count, int* out) {
  out[threadIdx.x] = 1;
  __threadfence();  //~ decides
  atomicAdd(count, 1);
}
LITMUS(fences) { fences<<<1, 64>>>(zeroed<int>(1), zeroed<int>(64)); }

// order: decides
__global__ void meets_in_halves(int* out) {
  asm volatile("barrier.sync %0, 32;" ::"r"(1) : "memory");  //~ decides
  out[threadIdx.x] = 1;
}
LITMUS(meets_in_halves) { meets_in_halves<<<1, 64>>>(zeroed<int>(64)); }

// order: decides
__global__ void looks_who_is_active(int* out) {
  out[__popc(__activemask()) + threadIdx.x] = 1;  //~ decides
}
LITMUS(looks_who_is_active) { looks_who_is_active<<<1, 32>>>(zeroed<int>(64)); }

// order: decides
__global__ void exchanges(int* last, int* out) {
  atomicExch(last, static_cast<int>(threadIdx.x));
  __syncthreads();
  if (*last == 5) out[threadIdx.x] = 1;  //~ decides
}
LITMUS(exchanges) { exchanges<<<1, 64>>>(zeroed<int>(1), zeroed<int>(64)); }

}  // namespace order_decides
