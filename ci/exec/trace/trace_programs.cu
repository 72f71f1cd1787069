// For trace_test.py: two kernels, of which one has a race; and one that runs until it is killed.
#include <cstdio>
#include <cstring>

__global__ void fill(int* data) { data[threadIdx.x] = 1; }  // fill

__global__ void block_sum(const int* data, int* sum) {
  __shared__ int partial[64];
  const int i = threadIdx.x;
  partial[i] = data[i];
  for (int half = 32; half > 0; half /= 2) {
    __syncthreads();
    if (i < half) partial[i] += partial[i + half];  // add
  }
  if (i == 63) *sum = partial[0];  // take
}

__global__ void turn(volatile int* data, long times) {
  for (long i = 0; i < times; ++i) data[0] = data[0] + 1;
}

int main(int argc, char** argv) {
  int *data = nullptr, *sum = nullptr, result = 0;
  cudaMalloc(&data, 64 * sizeof(int));
  cudaMalloc(&sum, sizeof(int));
  fill<<<1, 64>>>(data);
  if (argc > 1 && std::strcmp(argv[1], "long") == 0) {
    turn<<<1, 1>>>(data, 1L << 40);
  } else {
    block_sum<<<1, 64>>>(data, sum);
  }
  cudaMemcpy(&result, sum, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%d\n", result);
  cudaFree(data);
  cudaFree(sum);
  return 0;
}
