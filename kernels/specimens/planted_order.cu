// Shows that feedback from reads guides the schedule.  In each of three rounds warp 1 works a
// while, raises a flag and lowers it again at once; warp 0 looks at the flag just once, and goes
// on to the next round only if it saw it raised.  There is no race: the flags are atomic.  One
// preemption at the one right access of warp 1 passes a round, and shows as a read that saw
// another write; a search that is blind to this has to place all three at once.
#include "kernels/specimens/planted_order.hpp"

struct Flags {
  int work;
  int raised[3];
};

// A template, so that every round has instructions, and reads, of its own.
template <int round>
__device__ void raise_and_lower(Flags& flags) {
#pragma unroll 1
  for (int step = 0; step < 40; ++step) atomicAdd(&flags.work, 1);
  atomicExch(&flags.raised[round], 1);
  atomicExch(&flags.raised[round], 0);
}

template <int round>
__device__ void play(Flags& flags, bool& passing) {
  if (threadIdx.x == 32) raise_and_lower<round>(flags);
  if (threadIdx.x == 0 && passing) passing = atomicOr(&flags.raised[round], 0) == 1;
  __syncthreads();
}

__global__ void planted_order_kernel(int value, int* out) {
  __shared__ Flags flags;
  if (threadIdx.x == 0) flags = {};
  __syncthreads();
  bool passing = true;
  play<0>(flags, passing);
  play<1>(flags, passing);
  play<2>(flags, passing);
  if (threadIdx.x != 0) return;
  out[0] = value;
  if (passing) out[1] = value;
}

cudaError_t planted_order(int value, int* out) {
  planted_order_kernel<<<1, 64>>>(value, out);
  return cudaGetLastError();
}
