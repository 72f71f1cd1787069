// Coefficients in constant memory, a counter and a table in __device__ variables, all reached
// from the host by symbol: copies with offsets, in both directions, asynchronous, addresses and
// sizes.
// MUTANT: a copy to a symbol goes past its end.
// expect: out-of-bounds
#include "check.hpp"

constexpr int kTaps = 5;
__constant__ float taps[kTaps];
__device__ int counter = 7;
__device__ float table[2][kTaps] = {{1, 2, 3, 4, 5}};
static __device__ double hidden[3];

__global__ void filter(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < kTaps; ++k) {
    const int j = i + k - kTaps / 2;
    if (0 <= j && j < n) sum += taps[k] * in[j] + table[1][k];
  }
  out[i] = sum;
  atomicAdd(&counter, 1);
  if (i < 3) hidden[i] = sum;
}

int main() {
  constexpr int n = 200;
  const float host_taps[kTaps] = {0.25f, 0.5f, 1, 0.5f, 0.25f}, ones[kTaps] = {1, 1, 1, 1, 1};
  require(cudaMemcpyToSymbol(taps, host_taps, 2 * sizeof(float)));
#ifdef MUTANT
  const cudaError_t status =
      cudaMemcpyToSymbol(taps, host_taps + 2, 4 * sizeof(float), 2 * sizeof(float));
  if (status != cudaSuccess) return verdict(false);
#else
  require(cudaMemcpyToSymbol(taps, host_taps + 2, 3 * sizeof(float), 2 * sizeof(float)));
#endif
  require(cudaMemcpyToSymbolAsync(table, ones, sizeof ones, sizeof ones));
  void* address;
  size_t bytes;
  require(cudaGetSymbolAddress(&address, table));
  require(cudaGetSymbolSize(&bytes, table));
  float first;
  require(
      cudaMemcpy(&first, static_cast<float*>(address) + 4, sizeof first, cudaMemcpyDeviceToHost));

  float *in, *out;
  require(cudaMallocManaged(&in, n * sizeof(float)));
  require(cudaMallocManaged(&out, n * sizeof(float)));
  for (int i = 0; i < n; ++i) in[i] = i % 13;
  filter<<<4, 64>>>(in, out, n);
  require(cudaDeviceSynchronize());

  int count;
  double copied[3];
  require(cudaMemcpyFromSymbol(&count, counter, sizeof count));
  require(cudaMemcpyFromSymbol(copied, hidden, sizeof copied));
  bool is_right = bytes == sizeof(float[2][kTaps]) && first == 5 && count == 7 + n;
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = 0; k < kTaps; ++k) {
      const int j = i + k - kTaps / 2;
      if (0 <= j && j < n) sum += host_taps[k] * in[j] + 1;
    }
    is_right &= out[i] == sum && (i >= 3 || copied[i] == sum);
  }
  require(cudaFree(out));
  require(cudaFree(in));
  return verdict(is_right);
}
