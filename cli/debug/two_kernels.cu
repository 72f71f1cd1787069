// Two launches, and what the host writes before, between and after them.
#include <cstdio>

__global__ void first(int* out, int rounds) {
  __shared__ int share[32];
  const int t = static_cast<int>(threadIdx.x);
  share[t] = 0;
  for (int i = 0; i < rounds; ++i) share[t] += (i ^ t) & 3;
  out[t] = share[t];
}

__device__ __forceinline__ int raised(int value) { return value + 1; }

__global__ void second(int* out) {
  if (blockIdx.y == 0) out[threadIdx.x] = raised(out[threadIdx.x]);
}

int main() {
  int* out = nullptr;
  cudaMalloc(&out, 32 * sizeof(int));
  std::printf("begin\n");
  first<<<1, 32>>>(out, 3);
  cudaDeviceSynchronize();
  std::printf("between\n");
  second<<<dim3(1, 2), 32>>>(out);
  int host[32];
  cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(out);
  std::printf("sum %d\n", host[0]);
}

__device__ int limit = 7;
__global__ void not_launched() { limit = 8; }
