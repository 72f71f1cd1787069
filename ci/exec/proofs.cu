// For proofs_test.py: what the code of kernels proves, and launches that would take long.
#include <cstdio>
#include <cstdlib>

__global__ void doubled(float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[i] *= 2;
}

__global__ void scattered(const int* to, float* a, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) a[to[i]] = 1;  // data decides
}

__global__ void counted(int* sum, int* last) {
  if (atomicAdd(sum, 1) == 63) *last = threadIdx.x;  // order decides
}

__global__ void one_place(float* a) {
  a[0] = threadIdx.x;  // race
}

__global__ void long_sum(float* a, int rounds) {
  float sum = 0;
  for (int k = 0; k < rounds; ++k) sum += a[(threadIdx.x + k) % 256];
  a[256 + blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

int main(int argc, char** arguments) {
  float* a = nullptr;
  int* numbers = nullptr;
  cudaMalloc(&a, (256 + 4096 * 64) * sizeof(float));
  cudaMalloc(&numbers, 256 * sizeof(int));
  cudaMemset(a, 0, (256 + 4096 * 64) * sizeof(float));
  cudaMemset(numbers, 0, 256 * sizeof(int));
  const bool is_long = argc > 1;
  if (!is_long) {
    doubled<<<2, 64>>>(a, 100);
    scattered<<<1, 1>>>(numbers, a, 100);
    counted<<<2, 32>>>(numbers, numbers + 1);
    one_place<<<1, 64>>>(a);
  } else {
    long_sum<<<4096, 64>>>(a, std::atoi(arguments[1]));
  }
  const bool failed = cudaDeviceSynchronize() != cudaSuccess;
  std::printf("%s\n", failed ? "failed" : "done");
  cudaFree(a);
  cudaFree(numbers);
  return failed;
}
