// Published defects: the scan of the block sums is launched with as many threads as shared
// elements although each thread has two of them; and in the last step every thread of a block
// writes and reads the one shared addend with no barrier between.
#include "kernels/scan_blocks.cuh"
#include "kernels/specimens/scan_two_level.hpp"

extern __shared__ int share[];

__global__ void scan_two_level_published_sums_kernel(int* sums, int count) {
  const int first = 2 * static_cast<int>(threadIdx.x);
  for (int i = first; i < first + 2; ++i) share[i] = i < count ? sums[i] : 0;
  scan_in_place(share, static_cast<unsigned>(count));
  for (int i = first; i < first + 2; ++i) {
    if (i < count) sums[i] = share[i];
  }
}

__global__ void scan_two_level_published_add_kernel(int* out, const int* sums, int n) {
  __shared__ int addend;
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  addend = blockIdx.x > 0 ? sums[blockIdx.x - 1] : 0;
  if (i < n) out[i] += addend;
}

cudaError_t scan_two_level_published(const int* in, int* out, int* sums, int n, dim3 grid,
                                     dim3 block) {
  if (n == 0) return cudaSuccess;
  const int count = static_cast<int>(grid.x);
  scan_blocks_kernel<<<grid, block, 2 * block.x * sizeof(int)>>>(in, out, n);
  select_block_sums_kernel<<<1, block>>>(out, sums, n, static_cast<int>(block.x), count);
  scan_two_level_published_sums_kernel<<<1, grid, grid.x * sizeof(int)>>>(sums, count);
  scan_two_level_published_add_kernel<<<grid, block>>>(out, sums, n);
  return cudaGetLastError();
}
