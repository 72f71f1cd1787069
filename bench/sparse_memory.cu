// Allocates some GiB and writes some MiB of them, in eight places; run by sparse_memory.py.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

__global__ void touch(int* data, size_t n) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) data[i] = int(i);
}

int main(int, char** argv) {
  const size_t bytes = std::strtoull(argv[1], nullptr, 10) << 30;
  const size_t touched = std::strtoull(argv[2], nullptr, 10) << 20;
  char* data = nullptr;
  cudaMalloc(&data, bytes);
  for (size_t part = 0; part < 8; ++part) {
    touch<<<64, 256>>>(reinterpret_cast<int*>(data + part * (bytes / 8)),
                       touched / 8 / sizeof(int));
  }
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorName(error));
  cudaFree(data);
  return error == cudaSuccess ? 0 : 1;
}
