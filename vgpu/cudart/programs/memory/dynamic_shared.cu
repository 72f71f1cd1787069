// One dynamic shared array that is cut into several of other types, and one of more than 48 KiB.
// MUTANT: the launch gives less shared memory than the kernel cuts.
// expect: out-of-bounds
#include "check.hpp"

extern __shared__ unsigned char raw[];

__global__ void count_and_sum(const float* values, int* counts, double* sums, int bins) {
  double* const sum = reinterpret_cast<double*>(raw);
  int* const count = reinterpret_cast<int*>(sum + bins);
  for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) sum[bin] = 0, count[bin] = 0;  //~
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  atomicAdd(sum + i % bins, values[i]);
  atomicAdd(count + i % bins, 1);
  __syncthreads();
  for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) {
    counts[blockIdx.x * bins + bin] = count[bin];
    sums[blockIdx.x * bins + bin] = sum[bin];
  }
}

template <typename T>
__global__ void reverse_large(T* data, int n) {
  extern __shared__ __align__(16) unsigned char large[];
  T* const copy = reinterpret_cast<T*>(large);
  for (int i = threadIdx.x; i < n; i += blockDim.x) copy[i] = data[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = copy[n - 1 - i];
}

int main() {
  constexpr int kThreads = 128, kBlocks = 2, kBins = 10, n = kThreads * kBlocks, kLarge = 15000;
  float* values;
  int *counts, *large;
  double* sums;
  require(cudaMallocManaged(&values, n * sizeof *values));
  require(cudaMallocManaged(&counts, kBlocks * kBins * sizeof *counts));
  require(cudaMallocManaged(&sums, kBlocks * kBins * sizeof *sums));
  require(cudaMallocManaged(&large, kLarge * sizeof *large));
  for (int i = 0; i < n; ++i) values[i] = i / 2.0f;
  for (int i = 0; i < kLarge; ++i) large[i] = i;
#ifdef MUTANT
  const size_t bytes = kBins * sizeof(double);
#else
  const size_t bytes = kBins * (sizeof(double) + sizeof(int));
#endif
  count_and_sum<<<kBlocks, kThreads, bytes>>>(values, counts, sums, kBins);
  require(cudaFuncSetAttribute(reverse_large<int>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               kLarge * sizeof(int)));
  reverse_large<<<1, 256, kLarge * sizeof(int)>>>(large, kLarge);
  require(cudaDeviceSynchronize());
  bool is_right = true;
  for (int block = 0; block < kBlocks; ++block) {
    for (int bin = 0; bin < kBins; ++bin) {
      int count = 0;
      double sum = 0;
      for (int i = block * kThreads; i < (block + 1) * kThreads; ++i) {
        if (i % kBins == bin) ++count, sum += values[i];
      }
      is_right &= counts[block * kBins + bin] == count && sums[block * kBins + bin] == sum;
    }
  }
  for (int i = 0; i < kLarge; ++i) is_right &= large[i] == kLarge - 1 - i;
  for (void* each : {(void*)values, (void*)counts, (void*)sums, (void*)large})
    require(cudaFree(each));
  return verdict(is_right);
}
