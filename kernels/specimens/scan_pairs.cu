// Published defects: the bound is that of a thread's first element alone, and the distribution
// begins at a quarter of the elements, as if they were a power of two.
#include "kernels/specimens/scan_pairs.hpp"

extern __shared__ int share[];

__global__ void scan_pairs_published_kernel(const int* in, int* out, int n) {
  const int t = static_cast<int>(threadIdx.x);
  const int width = 2 * static_cast<int>(blockDim.x);
  const bool inside = 2 * t < n;
  share[2 * t] = inside ? in[2 * t] : 0;
  share[2 * t + 1] = inside ? in[2 * t + 1] : 0;
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
  if (inside) {
    out[2 * t] = share[2 * t];
    out[2 * t + 1] = share[2 * t + 1];
  }
}

cudaError_t scan_pairs_published(const int* in, int* out, int n, dim3 block) {
  scan_pairs_published_kernel<<<1, block, 2 * block.x * sizeof(int)>>>(in, out, n);
  return cudaGetLastError();
}
