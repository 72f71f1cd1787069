// Published defect: each thread calls `new`, which gives memory of the device heap to that thread
// alone.  What the others write goes to arrays of their own, and nobody frees any of them.
#include "kernels/specimens/kernel_new.hpp"

namespace {

constexpr unsigned kEnd = 0xffffffff;  // the head of a list that is used up

__global__ void kernel_new_published_kernel(const unsigned* in, unsigned* out, int n) {
  const int lists = static_cast<int>(blockDim.x);
  const int own = static_cast<int>(threadIdx.x);
  int* const next = new int[lists];
  unsigned* const heads = new unsigned[lists];
  int* const winner = new int;
  next[own] = own;
  for (int i = 0; i < n; ++i) {
    heads[own] = next[own] < n ? in[next[own]] : kEnd;
    __syncthreads();
    if (own == 0) {
      *winner = 0;
      for (int list = 1; list < lists; ++list) {
        if (heads[list] < heads[*winner]) *winner = list;
      }
      out[i] = heads[*winner];
    }
    __syncthreads();
    if (own == *winner) next[own] += lists;
  }
}

}  // namespace

cudaError_t kernel_new_published(const unsigned* in, unsigned* out, int n, int lists) {
  kernel_new_published_kernel<<<1, static_cast<unsigned>(lists)>>>(in, out, n);
  return cudaGetLastError();
}
