// Published defect: the distribution begins at a quarter of the block.  Where the block is no
// power of two, that stride is none either, or too short, and some sums are never passed on.
#include "kernels/specimens/scan_tree.hpp"

extern __shared__ int share[];

__global__ void scan_tree_published_kernel(const int* in, int* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  const int width = static_cast<int>(blockDim.x);
  share[t] = t < n ? in[t] : 0;
  for (int stride = 1; stride < width; stride *= 2) {
    __syncthreads();
    const int last = (t + 1) * stride * 2 - 1;
    if (last < width) share[last] += share[last - stride];
  }
  for (int stride = width / 4; stride > 0; stride /= 2) {
    __syncthreads();
    const int last = (t + 1) * stride * 2 - 1;
    if (last + stride < width) share[last + stride] += share[last];
  }
  __syncthreads();
  if (t < n) out[t] = share[t];
}

cudaError_t scan_tree_published(const int* in, int* out, int n, dim3 block) {
  scan_tree_published_kernel<<<1, block, block.x * sizeof(int)>>>(in, out, n);
  return cudaGetLastError();
}
