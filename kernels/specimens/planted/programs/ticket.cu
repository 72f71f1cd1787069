// data-race: __threadfence()
#include "planted_program.hpp"

__device__ int parts[8];
__device__ unsigned ticket;

__global__ void take_ticket(const int* in, int* out) {
  if (threadIdx.x != 0) return;
  parts[blockIdx.x] = in[blockIdx.x];  //@
  if (atomicAdd(&ticket, 1u) != gridDim.x - 1) return;
  __threadfence();
  int sum = 0;
#pragma unroll 1
  for (unsigned i = 0; i < gridDim.x; ++i) sum += parts[i];  //@
  out[0] = sum;
}

int main() {
  Buffers buffers;
  take_ticket<<<8, 32>>>(buffers.in, buffers.out);
  int sum = 0;
  for (int i = 0; i < 8; ++i) sum += input_at(i);
  return buffers.status([&](int i) { return i == 0 ? sum : 0; });
}
