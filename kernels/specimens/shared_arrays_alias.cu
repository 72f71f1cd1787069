// Published defect: two `extern __shared__` arrays, and memory asked for that would hold both.  All
// such arrays of a kernel begin at the same address, so the ones of a radix sort overwrite its
// zeros.  Not a race: every thread keeps to the places of its own list, in either array.
#include "kernels/specimens/shared_arrays_alias.hpp"

extern __shared__ std::uint32_t zeros[];
extern __shared__ std::uint32_t ones[];

__global__ void shared_arrays_alias_published_kernel(const std::uint32_t* in, std::uint32_t* out,
                                                     int n) {
  const int list = static_cast<int>(threadIdx.x);
  const int lists = static_cast<int>(blockDim.x);
  for (int i = list; i < n; i += lists) zeros[i] = in[i];
  for (int bit = 0; bit < 32; ++bit) {
    int zeros_end = list;
    int ones_end = list;
    for (int i = list; i < n; i += lists) {
      const std::uint32_t element = zeros[i];
      if ((element >> bit & 1) == 0) {
        zeros[zeros_end] = element;
        zeros_end += lists;
      } else {
        ones[ones_end] = element;
        ones_end += lists;
      }
    }
    for (int i = list; i < ones_end; i += lists, zeros_end += lists) zeros[zeros_end] = ones[i];
  }
  for (int i = list; i < n; i += lists) out[i] = zeros[i];
}

cudaError_t shared_arrays_alias_published(const std::uint32_t* in, std::uint32_t* out, int n,
                                          dim3 block) {
  const std::size_t shared_bytes = 2 * static_cast<std::size_t>(n) * sizeof(std::uint32_t);
  shared_arrays_alias_published_kernel<<<1, block, shared_bytes>>>(in, out, n);
  return cudaGetLastError();
}
