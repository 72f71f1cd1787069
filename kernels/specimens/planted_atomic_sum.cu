// Atomic, so there is no race; but additions of floats round, and another order rounds otherwise.
// Every result is within the error bound of a sum, and no two runs need agree.
#include "kernels/specimens/planted_atomic_sum.hpp"

__global__ void planted_atomic_sum_kernel(const float* in, float* sum, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) atomicAdd(sum, in[i]);
}

cudaError_t planted_atomic_sum(const float* in, float* sum, int n, dim3 grid, dim3 block) {
  planted_atomic_sum_kernel<<<grid, block>>>(in, sum, n);
  return cudaGetLastError();
}
