#include "kernels/neural/moments.hpp"

namespace {

constexpr unsigned kThreadsMax = 128;

// The sum of one number of each thread of the block.
__device__ float sum_of_block(float mine) {
  __shared__ float shared[kThreadsMax];
  shared[threadIdx.x] = mine;
  __syncthreads();
  float sum = 0;
  for (unsigned t = 0; t < blockDim.x; ++t) sum += shared[t];
  __syncthreads();
  return sum;
}

__device__ float mean_of(const float* in, int n) {
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
    sum += in[i];
  return sum_of_block(sum) / static_cast<float>(n);
}

__device__ float variance_around(const float* in, int n, float mean) {
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x)) {
    const float difference = in[i] - mean;
    sum += difference * difference;
  }
  return sum_of_block(sum) / static_cast<float>(n);
}

// Of `count` elements; squares: the sum of their squared distances from the mean.
struct Moments {
  int count;
  float mean, squares;
};

__device__ Moments with(const Moments& some, float x) {
  const int count = some.count + 1;
  const float before = x - some.mean;
  const float mean = some.mean + before / static_cast<float>(count);
  return {count, mean, some.squares + before * (x - mean)};
}

__device__ Moments merged(const Moments& a, const Moments& b) {
  if (b.count == 0) return a;
  const int count = a.count + b.count;
  const float share = static_cast<float>(b.count) / static_cast<float>(count);
  const float difference = b.mean - a.mean;
  return {count, a.mean + difference * share,
          a.squares + b.squares + difference * difference * (static_cast<float>(a.count) * share)};
}

__device__ void normalize(const float* in, const float* scale, const float* shift, float* out,
                          int columns, float mean, float variance) {
  const float factor = rsqrtf(variance + kLayerNormEpsilon);
  for (int i = static_cast<int>(threadIdx.x); i < columns; i += static_cast<int>(blockDim.x))
    out[i] = (in[i] - mean) * factor * scale[i] + shift[i];
}

}  // namespace

__global__ void variance_kernel(const float* in, float* out, int n) {
  const float result = variance_around(in, n, mean_of(in, n));
  if (threadIdx.x == 0) *out = result;
}

__global__ void dot_product_kernel(const float* a, const float* b, float* out, int n) {
  float sum = 0;
  for (int i = static_cast<int>(threadIdx.x); i < n; i += static_cast<int>(blockDim.x))
    sum += a[i] * b[i];
  sum = sum_of_block(sum);
  if (threadIdx.x == 0) *out = sum;
}

__global__ void layer_norm_two_pass_kernel(const float* in, const float* scale, const float* shift,
                                           float* out, int columns) {
  const float* const row = in + blockIdx.x * columns;
  const float mean = mean_of(row, columns);
  normalize(row, scale, shift, out + blockIdx.x * columns, columns, mean,
            variance_around(row, columns, mean));
}

__global__ void layer_norm_welford_kernel(const float* in, const float* scale, const float* shift,
                                          float* out, int columns) {
  __shared__ Moments shared[kThreadsMax];
  const float* const row = in + blockIdx.x * columns;
  Moments mine{0, 0, 0};
  for (int i = static_cast<int>(threadIdx.x); i < columns; i += static_cast<int>(blockDim.x))
    mine = with(mine, row[i]);
  shared[threadIdx.x] = mine;
  __syncthreads();
  Moments all{0, 0, 0};
  for (unsigned t = 0; t < blockDim.x; ++t) all = merged(all, shared[t]);
  normalize(row, scale, shift, out + blockIdx.x * columns, columns, all.mean,
            all.squares / static_cast<float>(columns));
}

cudaError_t variance(const float* in, float* out, int n, dim3 block) {
  variance_kernel<<<1, block>>>(in, out, n);
  return cudaGetLastError();
}

cudaError_t dot_product(const float* a, const float* b, float* out, int n, dim3 block) {
  dot_product_kernel<<<1, block>>>(a, b, out, n);
  return cudaGetLastError();
}

cudaError_t layer_norm_two_pass(const float* in, const float* scale, const float* shift, float* out,
                                int rows, int columns, dim3 block) {
  if (rows == 0) return cudaSuccess;
  layer_norm_two_pass_kernel<<<rows, block>>>(in, scale, shift, out, columns);
  return cudaGetLastError();
}

cudaError_t layer_norm_welford(const float* in, const float* scale, const float* shift, float* out,
                               int rows, int columns, dim3 block) {
  if (rows == 0) return cudaSuccess;
  layer_norm_welford_kernel<<<rows, block>>>(in, scale, shift, out, columns);
  return cudaGetLastError();
}
