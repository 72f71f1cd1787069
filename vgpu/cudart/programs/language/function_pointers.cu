// Kernels call functions through pointers: from a table in constant memory, from an argument that
// the host has read from the device, and of device functions with different numbers of registers.
// MUTANT: the table has no entry for the last operation.
// expect: trap
#include "check.hpp"

using Operation = float (*)(float, float);
__device__ float add(float a, float b) { return a + b; }
__device__ float multiply(float a, float b) { return a * b; }
__device__ float power(float a, float b) {
  float result = 1;
  for (int i = 0; i < static_cast<int>(b); ++i) result *= a;
  return result;
}
__device__ Operation device_add = add;
__constant__ Operation table[4] = {add, multiply, power};

__global__ void calculate(const int* codes, float* results, int n, Operation last) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  results[i] = last(table[codes[i]](2.0f, i), 1.0f);
}

int main() {
  constexpr int n = 10;
  int* codes;
  float* results;
  require(cudaMallocManaged(&codes, n * sizeof(int)));
  require(cudaMallocManaged(&results, n * sizeof(float)));
  for (int i = 0; i < n; ++i) codes[i] = i % 3;
#ifdef MUTANT
  codes[n - 1] = 3;
#endif
  Operation last;
  require(cudaMemcpyFromSymbol(&last, device_add, sizeof last));
  calculate<<<1, 32>>>(codes, results, n, last);
  const cudaError_t status = cudaDeviceSynchronize();
  if (status != cudaSuccess) return verdict(false);
  bool is_right = true;
  for (int i = 0; i < n; ++i) {
    const float expected = i % 3 == 0 ? 2 + i : i % 3 == 1 ? 2 * i : 1 << i;
    is_right &= results[i] == expected + 1;
  }
  require(cudaFree(results));
  require(cudaFree(codes));
  return verdict(is_right);
}
