// A kernel with any number of columns, folded over a pack; template parameters of every kind.
// MUTANT: a column is shorter than the others.
// expect: out-of-bounds
#include <utility>

#include "check.hpp"

template <typename... Columns>
__global__ void sum_rows(float* sums, int n, const Columns*... columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) sums[i] = (static_cast<float>(columns[i]) + ...);  //~
}

template <int... kDigits>
__device__ int number(std::integer_sequence<int, kDigits...>) {
  int value = 0;
  ((value = 10 * value + kDigits), ...);
  return value;
}

template <typename T, T kValue, template <typename> class Wrapper>
__device__ T unwrapped() {
  return Wrapper<T>{kValue}.value;
}
template <typename T>
struct Box {
  T value;
};

__global__ void constants(int* out) {
  if constexpr (sizeof(void*) == 8) out[0] = number(std::integer_sequence<int, 4, 0, 7>());
  out[1] = unwrapped<int, -5, Box>();
}

int main() {
  constexpr int n = 100;
#ifdef MUTANT
  constexpr int n_bytes = n - 1;
#else
  constexpr int n_bytes = n;
#endif
  int* integers;
  double* doubles;
  unsigned char* bytes;
  float* sums;
  require(cudaMallocManaged(&integers, n * sizeof(int)));
  require(cudaMallocManaged(&doubles, n * sizeof(double)));
  require(cudaMallocManaged(&bytes, n_bytes));
  require(cudaMallocManaged(&sums, n * sizeof(float)));
  for (int i = 0; i < n; ++i) integers[i] = -i, doubles[i] = i / 4.0;
  for (int i = 0; i < n_bytes; ++i) bytes[i] = 2 * i;
  sum_rows<<<4, 32>>>(sums, n, integers, doubles, bytes);
  int* out;
  require(cudaMallocManaged(&out, 2 * sizeof(int)));
  constants<<<1, 1>>>(out);
  require(cudaDeviceSynchronize());
  bool is_right = out[0] == 407 && out[1] == -5;
  for (int i = 0; i < n_bytes; ++i) is_right &= sums[i] == -i + i / 4.0f + 2 * i;
  require(cudaFree(out));
  require(cudaFree(sums));
  require(cudaFree(bytes));
  require(cudaFree(doubles));
  require(cudaFree(integers));
  return verdict(is_right);
}
