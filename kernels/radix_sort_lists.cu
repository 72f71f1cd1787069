#include "kernels/radix_sort_lists.hpp"

#include "kernels/radix_sort_lists.cuh"

__global__ void radix_sort_lists_kernel(const std::uint32_t* in, std::uint32_t* out,
                                        std::uint32_t* scratch, int n) {
  const int list = static_cast<int>(threadIdx.x);
  const int lists = static_cast<int>(blockDim.x);
  for (int i = list; i < n; i += lists) out[i] = in[i];
  radix_sort_list(out, scratch, n, list, lists, 0, 32);
}

cudaError_t radix_sort_lists(const std::uint32_t* in, std::uint32_t* out, std::uint32_t* scratch,
                             int n, dim3 block) {
  radix_sort_lists_kernel<<<1, block>>>(in, out, scratch, n);
  return cudaGetLastError();
}
