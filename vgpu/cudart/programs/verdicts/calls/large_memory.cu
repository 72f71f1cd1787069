// Allocations larger than a 32-bit offset can reach, and programs that use all memory.
// ci/exec/memory_test.py looks at how much memory of the host that takes.
// case across: | --memory 16G | across
// expect across: clean
// prints across: 73920 right
// prints across: 73920 right
// case across_managed: | --memory 16G | across-managed
// expect across_managed: clean
// prints across_managed: 73920 right
// prints across_managed: 73920 right
// case defects: | --memory 16G | defects
// expect defects: error data-race shift
// expect defects: error out-of-bounds store
// expect defects: error uninitialized-read
// expect defects: error use-after-free store freed
// says defects: allocation of 6442450944 bytes [1073741793], 4 bytes
// says defects: 4 bytes, 0 bytes past the end of an allocation of 6442450944 bytes
// says defects: allocation of 6442450944 bytes [4294967324], first of a copy of 8 bytes
// says defects: 4 bytes at byte 4294967296 of an allocation of 6442450944 bytes
// case until_none: | --memory 64M | until-none 4194304
// expect until_none: note api-error
// prints until_none: cudaErrorMemoryAllocation, all of it
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

constexpr size_t kGiga = size_t{1} << 30;
// Around these bytes of a large allocation, offsets need one more bit.
constexpr size_t kEdges[] = {2 * kGiga, 4 * kGiga};

// A row of warps on both sides of `middle`.
__global__ void fill_around(int* out, size_t middle, int first) {
  const size_t i = blockIdx.x * blockDim.x + threadIdx.x;
  out[middle - gridDim.x * blockDim.x / 2 + i] = first + int(i);
}

__global__ void sum_around(const int* in, size_t middle, int n, int* sum) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(sum, in[middle - n / 2 + i]);
}

__global__ void shift(int* data, size_t at) {
  data[at + threadIdx.x] = data[at + threadIdx.x + 1];  //~ shift
}

__global__ void store_at(int* data, size_t at) {
  data[at + threadIdx.x] = 1;  //~ store
}

__global__ void touch(int* data, size_t n) {
  const size_t stride = size_t{gridDim.x} * blockDim.x;
  for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) data[i] = int(i);
}

int* allocate(size_t bytes, bool managed = false) {
  int* data = nullptr;
  const cudaError_t error = managed ? cudaMallocManaged(&data, bytes)
                                    : cudaMalloc(reinterpret_cast<void**>(&data), bytes);
  if (error == cudaSuccess) return data;
  std::printf("%s\n", cudaGetErrorName(error));
  std::exit(1);
}

// Kernels, overlapping copies and fills, all across the edges.
void across(bool managed) {
  int* const data = allocate(6 * kGiga, managed);
  int* const sum = allocate(sizeof(int));
  int* const aside = allocate(292 * sizeof(int));
  for (const size_t edge : kEdges) {
    const size_t middle = edge / sizeof(int) + 5;
    cudaMemset(sum, 0, sizeof(int));
    fill_around<<<4, 96>>>(data, middle, 1);
    sum_around<<<1, 64>>>(data, middle, 384, sum);
    cudaMemcpy(aside, data + middle - 192, 292 * sizeof(int), cudaMemcpyDeviceToDevice);
    cudaMemcpy(data + middle - 100, aside, 292 * sizeof(int), cudaMemcpyDeviceToDevice);
    cudaMemset(data + middle - 192, 0, 92 * sizeof(int));
    std::vector<int> host(384);
    cudaMemcpy(host.data(), data + middle - 192, 384 * sizeof(int), cudaMemcpyDeviceToHost);
    int sum_of_device, is_right = 1;
    cudaMemcpy(&sum_of_device, sum, sizeof(int), cudaMemcpyDeviceToHost);
    for (int i = 0; i < 384; ++i) is_right &= host[i] == (i < 92 ? 0 : i - 91);
    std::printf("%d %s\n", sum_of_device, is_right ? "right" : "wrong");
  }
  cudaFree(data);
  cudaFree(sum);
  cudaFree(aside);
}

void defects() {
  int* const data = allocate(6 * kGiga);
  const size_t at = (4 * kGiga) / sizeof(int);
  cudaMemset(data + at - 64, 0, 256);
  shift<<<1, 64>>>(data, at - 63);  // reads one element that nothing has written
  store_at<<<1, 32>>>(data, 6 * kGiga / sizeof(int) - 31);
  int host[2];
  cudaMemcpy(host, data + at + 7, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);  //~ freed
  store_at<<<1, 1>>>(data, at);
  cudaDeviceSynchronize();
}

// Uses a small part of large memory.
void sparse() {
  int* const data = allocate(8 * kGiga);
  for (size_t part = 0; part < 8; ++part) {
    touch<<<32, 256>>>(data + part * kGiga / sizeof(int), (size_t{1} << 20) / sizeof(int));
  }
  cudaMemset(data, 0, 3 * kGiga);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(data);
}

// One allocation after the other, each for a short time.
void in_turn() {
  for (int i = 0; i < 64; ++i) {
    int* const data = allocate(512 << 20);
    touch<<<32, 256>>>(data, (size_t{4} << 20) / sizeof(int));
    cudaMemset(data + (256 << 20) / sizeof(int), i, 8 << 20);
    cudaFree(data);
  }
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}

// Allocates until nothing is left, and uses all of it.
void until_there_is_none(size_t bytes) {
  size_t free_bytes, total, sum = 0;
  cudaMemGetInfo(&free_bytes, &total);
  void* data;
  cudaError_t error;
  while ((error = cudaMalloc(&data, bytes)) == cudaSuccess) {
    sum += bytes;
    touch<<<16, 256>>>(static_cast<int*>(data), bytes / sizeof(int));
    if (cudaDeviceSynchronize() != cudaSuccess) break;
  }
  const bool is_all = sum + 2 * bytes > total;
  std::printf("%s, %s\n", cudaGetErrorName(error), is_all ? "all of it" : "not all of it");
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "across") across(false);
  if (mode == "across-managed") across(true);
  if (mode == "defects") defects();
  if (mode == "sparse") sparse();
  if (mode == "in-turn") in_turn();
  if (mode == "until-none") until_there_is_none(std::strtoull(argv[2], nullptr, 10));
  return 0;
}
