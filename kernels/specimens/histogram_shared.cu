// Published defect: every thread owns the counter of its own number, so the block has to have
// exactly as many threads as there are values of a byte.  Nothing says or checks it.
#include "kernels/specimens/histogram_shared.hpp"

__global__ void histogram_shared_published_kernel(const std::uint8_t* in, std::uint32_t* counts,
                                                  int n) {
  __shared__ std::uint32_t share[256];
  share[threadIdx.x] = 0;
  __syncthreads();
  int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const int step = static_cast<int>(gridDim.x * blockDim.x);
  for (; i < n; i += step) atomicAdd(&share[in[i]], 1U);
  __syncthreads();
  atomicAdd(&counts[threadIdx.x], share[threadIdx.x]);
}

cudaError_t histogram_shared_published(const std::uint8_t* in, std::uint32_t* counts, int n,
                                       dim3 grid, dim3 block) {
  histogram_shared_published_kernel<<<grid, block>>>(in, counts, n);
  return cudaGetLastError();
}
