#include "kernels/neural/softmax.hpp"

#include <math_constants.h>

namespace {

constexpr unsigned kThreadsMax = 128;

// A maximum, and the sum of the powers below it.
struct Normalizer {
  float maximum, sum;
};

__device__ Normalizer merged(const Normalizer& a, const Normalizer& b) {
  const float maximum = fmaxf(a.maximum, b.maximum);
  if (maximum == -CUDART_INF_F) return {maximum, 0};
  return {maximum, a.sum * expf(a.maximum - maximum) + b.sum * expf(b.maximum - maximum)};
}

}  // namespace

__global__ void softmax_three_pass_kernel(const float* in, float* out, int columns) {
  __shared__ float shared[kThreadsMax];
  const float* const row = in + blockIdx.x * columns;
  float* const result = out + blockIdx.x * columns;
  const int first = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);

  float maximum = -CUDART_INF_F;
  for (int i = first; i < columns; i += step) maximum = fmaxf(maximum, row[i]);
  shared[threadIdx.x] = maximum;
  __syncthreads();
  for (unsigned t = 0; t < blockDim.x; ++t) maximum = fmaxf(maximum, shared[t]);
  __syncthreads();

  float sum = 0;
  if (maximum != -CUDART_INF_F) {
    for (int i = first; i < columns; i += step) sum += expf(row[i] - maximum);
  }
  shared[threadIdx.x] = sum;
  __syncthreads();
  float all = 0;
  for (unsigned t = 0; t < blockDim.x; ++t) all += shared[t];
  for (int i = first; i < columns; i += step)
    result[i] = all == 0 ? 0 : expf(row[i] - maximum) / all;
}

__global__ void softmax_online_kernel(const float* in, float* out, int columns) {
  __shared__ Normalizer shared[kThreadsMax];
  const float* const row = in + blockIdx.x * columns;
  float* const result = out + blockIdx.x * columns;
  const int first = static_cast<int>(threadIdx.x), step = static_cast<int>(blockDim.x);

  Normalizer mine{-CUDART_INF_F, 0};
  for (int i = first; i < columns; i += step) mine = merged(mine, {row[i], 1});
  shared[threadIdx.x] = mine;
  __syncthreads();
  Normalizer all{-CUDART_INF_F, 0};
  for (unsigned t = 0; t < blockDim.x; ++t) all = merged(all, shared[t]);
  for (int i = first; i < columns; i += step)
    result[i] = all.sum == 0 ? 0 : expf(row[i] - all.maximum) / all.sum;
}

cudaError_t softmax_three_pass(const float* in, float* out, int rows, int columns, dim3 block) {
  if (rows == 0) return cudaSuccess;
  softmax_three_pass_kernel<<<rows, block>>>(in, out, columns);
  return cudaGetLastError();
}

cudaError_t softmax_online(const float* in, float* out, int rows, int columns, dim3 block) {
  if (rows == 0) return cudaSuccess;
  softmax_online_kernel<<<rows, block>>>(in, out, columns);
  return cudaGetLastError();
}
