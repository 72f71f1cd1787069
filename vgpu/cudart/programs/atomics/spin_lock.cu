// Blocks add up under a lock; who waits for it backs off. Threads that have nothing to do return
// first. MUTANT: a path leaves without giving the lock back.
// expect: deadlock
#include <vector>

#include "check.hpp"

__global__ void sum_under_a_lock(const int* data, int n, int* lock, int* sum) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  __shared__ int part[64];
  part[threadIdx.x] = data[i];
  __syncthreads();  //~
  if (threadIdx.x == 0) {
    const int count = min(blockDim.x, n - blockIdx.x * blockDim.x);
    int total = 0;
    for (int k = 0; k < count; ++k) total += part[k];
    unsigned pause = 8;
    while (atomicCAS(lock, 0, 1) != 0) {  //~
      __nanosleep(pause);
      if (pause < 256) pause *= 2;
    }
    __threadfence();
    *sum += total;
    __threadfence();
#ifdef MUTANT
    if (blockIdx.x == 3) return;
#endif
    atomicExch(lock, 0);
  }
  __syncthreads();  //~
}  //~

int main() {
  constexpr int kCount = 1000;
  std::vector<int> values(kCount);
  int right = 0, result = 0;
  for (int i = 0; i < kCount; ++i) right += values[i] = i * 7 % 13;
  int *data, *lock, *sum;
  require(cudaMalloc(&data, kCount * sizeof(int)));
  require(cudaMalloc(&lock, sizeof(int)));
  require(cudaMalloc(&sum, sizeof(int)));
  require(cudaMemcpy(data, values.data(), kCount * sizeof(int), cudaMemcpyHostToDevice));
  require(cudaMemset(lock, 0, sizeof(int)));
  require(cudaMemset(sum, 0, sizeof(int)));
  sum_under_a_lock<<<(kCount + 63) / 64, 64>>>(data, kCount, lock, sum);
  require(cudaGetLastError());
  require(cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost));
  for (int* memory : {data, lock, sum}) require(cudaFree(memory));
  return verdict(result == right);
}
