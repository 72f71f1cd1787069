// Programs for library_copies_test.py: algorithms of CUB and thrust, and a header of the program's own in a
// folder `cub`; the first argument selects one.
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/remove.h>
#include <thrust/unique.h>

#include <cstdio>
#include <cub/block/block_reduce.cuh>
#include <string>

#include "cub/sums.cuh"

struct IsOdd {
  __device__ bool operator()(int x) const { return x % 2 != 0; }
};

// Runs of `length` equal values.
__global__ void fill(int* data, int n, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i / length;
}

__global__ void unset(const int* in, int* out, int n) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ Reduce::TempStorage temp;
  const int i = threadIdx.x;
  int v;
  if (i < n) v = in[i];
  const int sum = Reduce(temp).Sum(v);  // unset
  if (i == 0) *out = sum;
}

__global__ void own_header(int* out) { *out = cub::sum_of_block(threadIdx.x); }  // own header

__global__ void own_unset(int* out, int n) { out[threadIdx.x] = cub::item_or_nothing(out, n); }  // own unset

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  constexpr int kCount = 20'000;
  int* memory = nullptr;
  cudaMalloc(&memory, 4 * kCount * sizeof(int));
  cudaMemset(memory, 0, 4 * kCount * sizeof(int));
  const bool overlaps = mode.rfind("overlap", 0) == 0;  // then nothing is dropped
  fill<<<(kCount + 255) / 256, 256>>>(memory, kCount, overlaps ? 1 : 3);
  const thrust::device_ptr<int> begin(memory);
  if (mode == "remove") thrust::remove_if(thrust::device, begin, begin + kCount, IsOdd());
  if (mode == "unique") thrust::unique(thrust::device, begin, begin + kCount);
  if (mode == "overlap") {
    thrust::unique_copy(thrust::device, begin, begin + kCount, begin + 64);
  }
  if (mode == "overlap by key") {
    thrust::unique_by_key_copy(thrust::device, begin, begin + kCount, begin + 2 * kCount, begin + 64,
                               begin + 3 * kCount);
  }
  if (mode == "unset") unset<<<1, 128>>>(memory, memory + kCount, 100);
  if (mode == "own header") own_header<<<1, 128>>>(memory);
  if (mode == "own unset") own_unset<<<1, 128>>>(memory, 3);
  if (mode == "failed call") {
    try {
      thrust::device_vector<char> all(std::size_t{1} << 45);  // failed call
    } catch (const std::exception&) {
    }
  }
  int host[128];
  cudaMemcpy(host, mode == "unset" ? memory + kCount : memory, mode == "unset" ? 4 : sizeof host,
             cudaMemcpyDeviceToHost);
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(memory);
}
