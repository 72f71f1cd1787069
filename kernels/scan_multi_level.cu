#include "kernels/scan_multi_level.hpp"

#include "kernels/scan_blocks.cuh"

namespace {

int blocks_for(int n, dim3 block) {
  const int width = static_cast<int>(block.x);
  return n / width + (n % width != 0 ? 1 : 0);
}

template <class T>
void scan_level(const T* in, T* out, T* scratch, int n, dim3 block) {
  const int width = static_cast<int>(block.x);
  const int blocks = blocks_for(n, block);
  scan_blocks_kernel<<<blocks, block, 2 * block.x * sizeof(T)>>>(in, out, n);
  if (blocks == 1) return;
  T* const sums = scratch;
  select_block_sums_kernel<<<blocks_for(blocks, block), block>>>(out, sums, n, width, blocks);
  scan_level(sums, sums, scratch + blocks, blocks, block);
  add_block_sums_kernel<<<blocks, block>>>(out, sums, n);
}

template <class T>
cudaError_t launch(const T* in, T* out, T* scratch, int n, dim3 block) {
  if (block.x < 2) return cudaErrorInvalidValue;
  if (n == 0) return cudaSuccess;
  scan_level(in, out, scratch, n, block);
  return cudaGetLastError();
}

}  // namespace

std::size_t scan_multi_level_scratch(int n, dim3 block) {
  std::size_t elements = 0;
  while (n > static_cast<int>(block.x)) {
    n = blocks_for(n, block);
    elements += static_cast<std::size_t>(n);
  }
  return elements;
}

cudaError_t scan_multi_level(const int* in, int* out, int* scratch, int n, dim3 block) {
  return launch(in, out, scratch, n, block);
}

cudaError_t scan_multi_level(const float* in, float* out, float* scratch, int n, dim3 block) {
  return launch(in, out, scratch, n, block);
}
