// Softmax of rows in one pass, a warp a row, with running maximum and sum (as attention kernels
// do), and layer norm with float4 loads.
// MUTANT: the row is taken for a multiple of four floats longer than it is.
// expect: out-of-bounds
#include <cmath>

#include "check.hpp"

__global__ void softmax(const float* in, float* out, int columns) {
  const float* const row = in + blockIdx.x * columns;
  float maximum = -INFINITY, sum = 0;
  for (int i = threadIdx.x; i < columns; i += 32) {
    const float larger = fmaxf(maximum, row[i]);
    sum = sum * __expf(maximum - larger) + __expf(row[i] - larger);
    maximum = larger;
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    const float other = __shfl_xor_sync(~0u, maximum, distance);
    const float other_sum = __shfl_xor_sync(~0u, sum, distance), larger = fmaxf(maximum, other);
    sum = sum * __expf(maximum - larger) + other_sum * __expf(other - larger);
    maximum = larger;
  }
  for (int i = threadIdx.x; i < columns; i += 32) {
    out[blockIdx.x * columns + i] = __expf(row[i] - maximum) / sum;
  }
}

__global__ void layer_norm(const float* in, const float* weight, float* out, int columns) {
  const float4* const row = reinterpret_cast<const float4*>(in + blockIdx.x * columns);
  __shared__ float sums[2][8];
  float sum = 0, squares = 0;
#ifdef MUTANT
  const int vectors = columns / 4 + 1;
#else
  const int vectors = columns / 4;
#endif
  for (int i = threadIdx.x; i < vectors; i += blockDim.x) {
    const float4 v = row[i];  //~
    sum += v.x + v.y + v.z + v.w;
    squares += v.x * v.x + v.y * v.y + v.z * v.z + v.w * v.w;
  }
  for (int distance = 16; distance > 0; distance /= 2) {
    sum += __shfl_xor_sync(~0u, sum, distance);
    squares += __shfl_xor_sync(~0u, squares, distance);
  }
  if (threadIdx.x % 32 == 0) sums[0][threadIdx.x / 32] = sum, sums[1][threadIdx.x / 32] = squares;
  __syncthreads();
  const int warps = blockDim.x / 32;
  sum = squares = 0;
  for (int i = 0; i < warps; ++i) sum += sums[0][i], squares += sums[1][i];
  const float mean = sum / columns, scale = rsqrtf(squares / columns - mean * mean + 1e-5f);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) {
    const int at = blockIdx.x * columns + i;
    out[at] = (in[at] - mean) * scale * weight[i];
  }
}

int main() {
  const int rows = 5, columns = 200;
  Buffer<float> in(rows * columns), chances(rows * columns), normal(rows * columns),
      weight(columns, 2);
  for (int i = 0; i < rows * columns; ++i) in[i] = i * 17 % 61 / 10.0f - 3;
  softmax<<<rows, 32>>>(in, chances, columns);
  layer_norm<<<rows, 64>>>(in, weight, normal, columns);
  finish();
  bool is_right = true;
  for (int row = 0; row < rows; ++row) {
    double sum = 0, mean = 0, variance = 0;
    const float* const x = in + row * columns;
    for (int i = 0; i < columns; ++i) sum += std::exp(double(x[i])), mean += x[i] / double(columns);
    for (int i = 0; i < columns; ++i) variance += (x[i] - mean) * (x[i] - mean) / columns;
    for (int i = 0; i < columns; ++i) {
      is_right &= std::abs(chances[row * columns + i] - std::exp(double(x[i])) / sum) < 1e-6;
      const double expected = 2 * (x[i] - mean) / std::sqrt(variance + 1e-5);
      is_right &= std::abs(normal[row * columns + i] - expected) < 1e-4;
    }
  }
  return verdict(is_right);
}
