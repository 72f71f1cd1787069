// A loop over indices takes its body as a lambda, which calls another one that runs on the host
// too.
// options: --extended-lambda
// MUTANT: the body reads the element after its own.
// expect: out-of-bounds
#include <vector>

#include "check.hpp"

template <typename Body>
__global__ void for_each_index(int n, Body body) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) body(i);
}

int main() {
  constexpr int n = 1000;
  float *x, *y;
  require(cudaMallocManaged(&x, n * sizeof(float)));
  require(cudaMallocManaged(&y, n * sizeof(float)));
  for (int i = 0; i < n; ++i) x[i] = i, y[i] = 1;
#ifdef MUTANT
  const int shift = 1;
#else
  const int shift = 0;
#endif
  const float a = 3;
  const auto half = [=] __host__ __device__(float value) { return value / a; };
  for_each_index<<<4, 128>>>(n, [=] __device__(int i) {
    y[i] = a * x[i + shift] + half(y[i]);  //~
  });
  require(cudaDeviceSynchronize());
  bool is_right = true;
  for (int i = 0; i < n; ++i) is_right &= y[i] == 3 * x[i] + half(1);
  require(cudaFree(y));
  require(cudaFree(x));
  return verdict(is_right);
}
