#include "kernels/histogram.hpp"

namespace {

// The thread's number in its grid, and the number of all threads; 64 bits, so that stepping past
// the end of the longest input does not wrap around.
__device__ std::uint64_t first_index() {
  return std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ std::uint64_t all_threads() { return std::uint64_t{gridDim.x} * blockDim.x; }

}  // namespace

__global__ void histogram_global_kernel(const std::uint8_t* in, std::uint32_t* counts,
                                        std::uint64_t n) {
  for (std::uint64_t i = first_index(); i < n; i += all_threads()) atomicAdd(&counts[in[i]], 1U);
}

__global__ void histogram_shared_kernel(const std::uint8_t* in, std::uint32_t* counts,
                                        std::uint64_t n) {
  __shared__ std::uint32_t share[kHistogramBins];
  for (unsigned bin = threadIdx.x; bin < kHistogramBins; bin += blockDim.x) share[bin] = 0;
  __syncthreads();
  for (std::uint64_t i = first_index(); i < n; i += all_threads()) atomicAdd(&share[in[i]], 1U);
  __syncthreads();
  for (unsigned bin = threadIdx.x; bin < kHistogramBins; bin += blockDim.x) {
    if (share[bin] != 0) atomicAdd(&counts[bin], share[bin]);
  }
}

cudaError_t histogram_global(const std::uint8_t* in, std::uint32_t* counts, int n, dim3 grid,
                             dim3 block) {
  histogram_global_kernel<<<grid, block>>>(in, counts, static_cast<std::uint64_t>(n));
  return cudaGetLastError();
}

cudaError_t histogram_shared(const std::uint8_t* in, std::uint32_t* counts, int n, dim3 grid,
                             dim3 block) {
  histogram_shared_kernel<<<grid, block>>>(in, counts, static_cast<std::uint64_t>(n));
  return cudaGetLastError();
}
