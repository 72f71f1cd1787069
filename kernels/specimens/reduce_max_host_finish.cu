// Published defect: the device leaves one value for each block, and the host copies one for each
// element of the input.
#include "kernels/specimens/reduce_max_host_finish.hpp"

#include <algorithm>
#include <vector>

#include "kernels/reduce_blocks.cuh"

cudaError_t reduce_max_host_finish_published(const int* in, int* out, int* scratch, int n,
                                             dim3 grid, dim3 block) {
  reduce_blocks_kernel<Maximum><<<grid, block, block.x * sizeof(int)>>>(in, scratch, n);
  std::vector<int> results(static_cast<std::size_t>(n));
  const cudaError_t error =
      cudaMemcpy(results.data(), scratch, results.size() * sizeof(int), cudaMemcpyDeviceToHost);
  if (error != cudaSuccess) return error;
  *out = *std::max_element(results.begin(), results.end());
  return cudaSuccess;
}
