#include "vgpu/cudart/testing/cuda_test_kernels.hpp"

#include <cuda_runtime.h>

#include <cstddef>

namespace {

__constant__ int weights[4];
__device__ int counter = 100;

__global__ void weigh_kernel(const int* values, int* out, int n) {
  const unsigned block = blockIdx.y * gridDim.x + blockIdx.x;
  const int i = static_cast<int>(block * blockDim.x + threadIdx.x);
  if (i < n) out[i] = values[i] * weights[i % 4] + i;
}

template <class T>
__global__ void reverse_kernel(T* values, int n) {
  extern __shared__ std::byte bytes[];
  T* const tile = reinterpret_cast<T*>(bytes);
  const int i = static_cast<int>(threadIdx.x);
  tile[i] = values[i];
  __syncthreads();
  values[i] = tile[n - 1 - i];
}

__global__ void count_kernel() { atomicAdd(&counter, 1); }

__global__ void racy_scan_kernel(int* values, int n) {
  extern __shared__ int share[];
  const int i = static_cast<int>(threadIdx.x);
  share[i] = values[i];
  for (int stride = 1; stride < n; stride *= 2) {
    __syncthreads();
    if (i >= stride) share[i] += share[i - stride];
  }
  values[i] = share[i];
}

// Device memory with the bytes of `values`.
template <class T>
T* upload(const std::vector<T>& values) {
  T* device = nullptr;
  cudaMalloc(&device, values.size() * sizeof(T));
  cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice);
  return device;
}

template <class T>
std::vector<T> download(T* device, std::size_t count) {
  std::vector<T> values(count);
  cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost);
  cudaFree(device);
  return values;
}

}  // namespace

namespace warpcheck::cudart::cuda_test {

std::vector<int> weigh(const std::vector<int>& values) {
  const int host_weights[4] = {2, 3, 5, 7};
  cudaMemcpyToSymbol(weights, host_weights, sizeof host_weights);
  int* const in = upload(values);
  int* const out = upload(std::vector<int>(values.size()));
  const unsigned blocks = static_cast<unsigned>(values.size() + 31) / 32;
  weigh_kernel<<<dim3((blocks + 1) / 2, 2), 32>>>(in, out, static_cast<int>(values.size()));
  cudaFree(in);
  return download(out, values.size());
}

std::vector<double> reverse(const std::vector<double>& values) {
  double* const device = upload(values);
  reverse_kernel<<<1, static_cast<unsigned>(values.size()), values.size() * sizeof(double)>>>(
      device, static_cast<int>(values.size()));
  return download(device, values.size());
}

int count_threads(int threads) {
  for (int i = 0; i < 3; ++i) count_kernel<<<1, static_cast<unsigned>(threads)>>>();
  int counted = 0;
  cudaMemcpyFromSymbol(&counted, counter, sizeof counted);
  return counted - 100;
}

std::vector<int> racy_scan(const std::vector<int>& values) {
  int* const device = upload(values);
  racy_scan_kernel<<<1, static_cast<unsigned>(values.size()), values.size() * sizeof(int)>>>(
      device, static_cast<int>(values.size()));
  return download(device, values.size());
}

}  // namespace warpcheck::cudart::cuda_test
