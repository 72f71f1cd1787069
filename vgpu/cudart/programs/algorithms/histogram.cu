// A histogram with private bins in shared memory, one a warp, that are added up.
// MUTANT: the bins of the warps are cleared by too few threads.
// expect: uninitialized-read
#include "check.hpp"

constexpr int kBins = 64, kThreads = 128, kWarps = kThreads / 32;

__global__ void count(const unsigned char* data, int n, unsigned* bins) {
  __shared__ unsigned mine[kWarps][kBins];
#ifdef MUTANT
  for (int bin = threadIdx.x; bin < kBins; bin += kThreads) mine[0][bin] = 0;
#else
  for (int bin = threadIdx.x; bin < kWarps * kBins; bin += kThreads)
    mine[bin / kBins][bin % kBins] = 0;
#endif
  __syncthreads();
  for (int i = blockIdx.x * kThreads + threadIdx.x; i < n; i += gridDim.x * kThreads) {
    atomicAdd(&mine[threadIdx.x / 32][data[i] % kBins], 1);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBins; bin += kThreads) {
    unsigned sum = 0;
    for (int warp = 0; warp < kWarps; ++warp) sum += mine[warp][bin];
    atomicAdd(bins + bin, sum);
  }
}

int main() {
  const int n = 20000;
  Buffer<unsigned char> data(n);
  unsigned *bins, result[kBins];
  require(cudaMalloc(&bins, sizeof result));
  require(cudaMemset(bins, 0, sizeof result));
  unsigned expected[kBins] = {};
  for (int i = 0; i < n; ++i) ++expected[(data[i] = i * i % 251) % kBins];
  count<<<4, kThreads>>>(data, n, bins);
  require(cudaMemcpy(result, bins, sizeof result, cudaMemcpyDeviceToHost));
  require(cudaFree(bins));
  bool is_right = true;
  for (int bin = 0; bin < kBins; ++bin) is_right &= result[bin] == expected[bin];
  return verdict(is_right);
}
