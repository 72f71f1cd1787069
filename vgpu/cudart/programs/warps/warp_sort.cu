// A warp sorts 32 numbers in registers, bitonically, by __shfl_xor_sync; many warps a block.
#include <algorithm>
#include <vector>

#include "check.hpp"

__global__ void sort(float* data) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x % 32;
  float value = data[i];
  for (int size = 2; size <= 32; size *= 2) {
    for (int stride = size / 2; stride > 0; stride /= 2) {
      const float other = __shfl_xor_sync(0xffffffff, value, stride);
      const bool ascending = (lane & size) == 0, is_low = (lane & stride) == 0;
      value = ascending == is_low ? fminf(value, other) : fmaxf(value, other);
    }
  }
  data[i] = value;
}

int main() {
  const int n = 256;
  Buffer<float> data(n);
  for (int i = 0; i < n; ++i) data[i] = i * 97 % 101 / 4.0f;
  std::vector<float> expected(data.begin(), data.end());
  for (int i = 0; i < n; i += 32) std::sort(expected.begin() + i, expected.begin() + i + 32);
  sort<<<2, 128>>>(data);
  finish();
  return verdict(std::equal(expected.begin(), expected.end(), data.begin()));
}
