// Published defects: threads without an element put 0 into the tree, as if it were a sum; the
// tree goes by the length of the shared array and not by the number of threads that have filled
// it; and a partner is looked for whether there is one or not, as if that length were a power of
// two.
#include "kernels/specimens/reduce_max.hpp"

extern __shared__ int share[];

__global__ void reduce_max_published_kernel(const int* in, int* out, int n, int length) {
  const int thread = static_cast<int>(threadIdx.x);
  share[thread] = thread < n ? in[thread] : 0;
  for (int stride = 1; stride < length; stride *= 2) {
    __syncthreads();
    const int at = 2 * stride * thread;
    if (at < length) share[at] = max(share[at], share[at + stride]);
  }
  if (thread == 0) *out = share[0];
}

cudaError_t reduce_max_published(const int* in, int* out, int n, int length, dim3 block) {
  const auto shared_bytes = static_cast<std::size_t>(length) * sizeof(int);
  reduce_max_published_kernel<<<1, block, shared_bytes>>>(in, out, n, length);
  return cudaGetLastError();
}
