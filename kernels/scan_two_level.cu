#include "kernels/scan_two_level.hpp"

#include "kernels/scan_blocks.cuh"
#include "kernels/scan_pairs.hpp"

namespace {

template <class T>
cudaError_t launch(const T* in, T* out, T* sums, int n, dim3 grid, dim3 block) {
  if (n == 0) return cudaSuccess;
  const int count = static_cast<int>(grid.x);
  scan_blocks_kernel<<<grid, block, 2 * block.x * sizeof(T)>>>(in, out, n);
  select_block_sums_kernel<<<1, block>>>(out, sums, n, static_cast<int>(block.x), count);
  scan_pairs(sums, sums, count, dim3((grid.x + 1) / 2));
  add_block_sums_kernel<<<grid, block>>>(out, sums, n);
  return cudaGetLastError();
}

}  // namespace

cudaError_t scan_two_level(const int* in, int* out, int* sums, int n, dim3 grid, dim3 block) {
  return launch(in, out, sums, n, grid, block);
}

cudaError_t scan_two_level(const float* in, float* out, float* sums, int n, dim3 grid, dim3 block) {
  return launch(in, out, sums, n, grid, block);
}
