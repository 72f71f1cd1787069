#include "kernels/specimens/planted/wrong_sorts.hpp"

#include <climits>
#include <cmath>

__global__ void wrong_bitonic_sort_kernel(const int* in, int* out, int n, int width, int wrong) {
  __shared__ int values[kWrongSortMax];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  const int missing = wrong == 1 ? 0 : INT_MAX;
  for (int i = thread; i < width; i += threads) values[i] = i < n ? in[i] : missing;
  const int last = wrong == 2 ? width / 2 : width;
  for (int size = wrong == 3 ? 4 : 2; size <= last; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      if (wrong == 4 && size == 8 && stride == 2) continue;
      __syncthreads();
      for (int pair = thread; pair < width / 2; pair += threads) {
        const int i = 2 * pair - (pair & (stride - 1));
        const int j = wrong == 5 && size == 8 && stride == 4 && i < 2 ? 5 - i : i + stride;
        const int a = values[i], b = values[j];
        int least = min(a, b);
        const int most = max(a, b);
        if (wrong == 6 && size == 8 && stride == 1 && i == 4) least = most;
        bool ascends = (i & size) == 0;
        if (wrong == 7 && size == 4 && i == 4) ascends = !ascends;
        if (wrong == 8) ascends = !ascends;
        if (wrong == 9 && n == 37 && size == 32 && stride == 1 && i == 8) continue;
        values[i] = ascends ? least : most;
        values[j] = ascends ? most : least;
      }
    }
  }
  __syncthreads();
  for (int i = thread; i < n; i += threads) out[wrong == 10 && i > 1 ? (i ^ 1) % n : i] = values[i];
}

__global__ void wrong_merge_sort_kernel(const std::uint32_t* in, std::uint32_t* out, int n,
                                        int wrong, std::uint32_t direction) {
  __shared__ std::uint32_t values[kWrongSortMax];
  const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
  for (int i = thread; i < n; i += threads) values[i] = in[i];
  for (int size = 1; size < n; size *= 2) {
    for (int stride = size; stride > (wrong == 11 && size == 8 ? 1 : 0); stride /= 2) {
      __syncthreads();
      for (int i = thread; i + stride < n; i += threads) {
        const int within = stride == size || wrong == 12 ? i : i - stride;
        const bool is_lower = within >= 0 && (within & stride) == 0;
        const bool is_one_list = i / (2 * size) == (i + stride) / (2 * size);
        if (!is_lower || !is_one_list) continue;
        if (wrong == 13 && n == 13 && size == 8 && stride == 2 && i == 2) continue;
        const std::uint32_t a = values[i], b = values[i + stride];
        const std::uint32_t is_greater =
            wrong == 14 ? static_cast<std::int32_t>(a) > static_cast<std::int32_t>(b) : a > b;
        const bool swaps = is_greater == (wrong == 15 && size == 4 ? 1 - direction : direction);
        values[i] = swaps ? b : a;
        values[i + stride] = swaps ? a : b;
      }
    }
  }
  __syncthreads();
  for (int i = thread; i < n; i += threads) out[i] = values[i];
}

__global__ void wrong_warp_sort_kernel(const float* in, float* out, int n, int wrong) {
  const int lane = static_cast<int>(threadIdx.x);
  float value = lane < n ? in[lane] : INFINITY;
  for (int size = 2; size <= 32; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      const int mask = wrong == 16 && size == 16 && stride == 8 ? 12 : stride;
      const float other = __shfl_xor_sync(~0u, value, mask);
      const bool ascends = wrong == 17 && size == 32 ? (lane & 8) == 0 : (lane & size) == 0;
      const bool is_lower = (lane & stride) == 0;
      if (wrong == 18 && size == 32 && stride == 1 && lane == 5) continue;
      value = is_lower == ascends ? fminf(value, other) : fmaxf(value, other);
      if (wrong == 19 && size == 8 && stride == 1 && lane == 3) value = fabsf(value);
    }
  }
  if (lane < n) out[lane] = value;
}

__global__ void wrong_median_kernel(const int* in, int* out, int wrong) {
  const int a = in[0], b = in[1], c = in[2];
  out[0] = max(min(a, b), wrong == 20 ? min(max(a, b), max(a, c)) : min(max(a, b), c));
}

__global__ void wrong_choice_kernel(const int* in, int* out, int n, bool chooses) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n - 1) return;
  const int a = in[i], b = in[i + 1];
  out[i] = a > b && chooses ? a : b;
}

cudaError_t wrong_bitonic_sort(const int* in, int* out, int n, int wrong) {
  int width = 1;
  while (width < n) width *= 2;
  wrong_bitonic_sort_kernel<<<1, 16>>>(in, out, n, width, wrong);
  return cudaGetLastError();
}

cudaError_t wrong_merge_sort(const std::uint32_t* in, std::uint32_t* out, int n, int wrong) {
  wrong_merge_sort_kernel<<<1, 16>>>(in, out, n, wrong, 1);
  return cudaGetLastError();
}

cudaError_t wrong_warp_sort(const float* in, float* out, int n, int wrong) {
  wrong_warp_sort_kernel<<<1, 32>>>(in, out, n, wrong);
  return cudaGetLastError();
}

cudaError_t wrong_median(const int* in, int* out, int n, int wrong) {
  if (n != 3) return cudaErrorInvalidValue;
  wrong_median_kernel<<<1, 1>>>(in, out, wrong);
  return cudaGetLastError();
}

cudaError_t wrong_choice(const int* in, int* out, int n, int wrong, bool chooses) {
  wrong_choice_kernel<<<1, 32>>>(in, out, n, wrong == 21 ? !chooses : chooses);
  return cudaGetLastError();
}
