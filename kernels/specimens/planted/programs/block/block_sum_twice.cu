// data-race: __syncthreads()
#include "planted_program.hpp"

template <typename T, int kThreads>
__device__ __forceinline__ T block_sum(T value) {
  __shared__ T parts[kThreads / 32];
  for (int distance = 16; distance > 0; distance /= 2)
    value += __shfl_xor_sync(0xffffffff, value, distance);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;  //@
  __syncthreads();
  T sum = 0;
  for (int i = 0; i < kThreads / 32; ++i) sum += parts[i];  //@
  return sum;
}

__global__ void sums(const int* in, int* out) {
  const int t = threadIdx.x;
  const int sum = block_sum<int, kElements>(in[t]);
  const int squares = block_sum<int, kElements>(in[t] * in[t] + sum);
  out[t] = squares;
}

int main() {
  Buffers buffers;
  sums<<<1, kElements>>>(buffers.in, buffers.out);
  int sum = 0, squares = 0;
  for (int i = 0; i < kElements; ++i) sum += input_at(i);
  for (int i = 0; i < kElements; ++i) squares += input_at(i) * input_at(i) + sum;
  return buffers.status([&](int) { return squares; });
}
