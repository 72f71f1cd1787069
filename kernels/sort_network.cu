#include "kernels/sort_network.hpp"

#include <climits>
#include <cmath>

#include "kernels/dynamic_shared.cuh"

__device__ inline int greatest_of(int) { return INT_MAX; }
__device__ inline float greatest_of(float) { return INFINITY; }
__device__ inline int lesser(int a, int b) { return min(a, b); }
__device__ inline int greater(int a, int b) { return max(a, b); }
__device__ inline float lesser(float a, float b) { return fminf(a, b); }
__device__ inline float greater(float a, float b) { return fmaxf(a, b); }

// width: a power of two, at least n; what is missing is the greatest number.
template <class T>
__global__ void bitonic_sort_kernel(const T* in, T* out, int n, int width) {
  T* const values = dynamic_shared<T>();
  const int threads = static_cast<int>(blockDim.x), first = static_cast<int>(threadIdx.x);
  for (int i = first; i < width; i += threads) values[i] = i < n ? in[i] : greatest_of(T{});
  for (int size = 2; size <= width; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int pair = first; pair < width / 2; pair += threads) {
        const int i = 2 * pair - (pair & (stride - 1)), j = i + stride;
        const T least = lesser(values[i], values[j]), most = greater(values[i], values[j]);
        const bool ascends = (i & size) == 0;
        values[i] = ascends ? least : most;
        values[j] = ascends ? most : least;
      }
    }
  }
  __syncthreads();
  for (int i = first; i < n; i += threads) out[i] = values[i];
}

// Pairs that reach beyond n are left out: what is there counts as the greatest number.
__global__ void odd_even_merge_sort_kernel(const std::uint32_t* in, std::uint32_t* out, int n) {
  std::uint32_t* const values = dynamic_shared<std::uint32_t>();
  const int threads = static_cast<int>(blockDim.x), first = static_cast<int>(threadIdx.x);
  for (int i = first; i < n; i += threads) values[i] = in[i];
  for (int size = 1; size < n; size *= 2) {
    for (int stride = size; stride > 0; stride /= 2) {
      __syncthreads();
      for (int i = first; i + stride < n; i += threads) {
        const int within = stride == size ? i : i - stride;
        const bool is_lower = within >= 0 && (within & stride) == 0;
        const bool is_one_list = i / (2 * size) == (i + stride) / (2 * size);
        if (!is_lower || !is_one_list) continue;
        const std::uint32_t a = values[i], b = values[i + stride];
        const bool swaps = a > b;
        values[i] = swaps ? b : a;
        values[i + stride] = swaps ? a : b;
      }
    }
  }
  __syncthreads();
  for (int i = first; i < n; i += threads) out[i] = values[i];
}

namespace {

template <class T>
cudaError_t launch_bitonic(const T* in, T* out, int n, dim3 block) {
  int width = 1;
  while (width < n) width *= 2;
  bitonic_sort_kernel<<<1, block, width * sizeof(T)>>>(in, out, n, width);
  return cudaGetLastError();
}

}  // namespace

cudaError_t bitonic_sort(const int* in, int* out, int n, dim3 block) {
  return launch_bitonic(in, out, n, block);
}

cudaError_t bitonic_sort(const float* in, float* out, int n, dim3 block) {
  return launch_bitonic(in, out, n, block);
}

cudaError_t odd_even_merge_sort(const std::uint32_t* in, std::uint32_t* out, int n, dim3 block) {
  odd_even_merge_sort_kernel<<<1, block, n * sizeof(std::uint32_t)>>>(in, out, n);
  return cudaGetLastError();
}
