// Programs for races_test.py: algorithms of the toolkit's libraries that race by the letter and
// cannot go wrong, and the same headers called from a user's line; the first argument selects one.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>
#include <string>
#ifndef TILES_ONLY
#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/unique.h>

#include <cub/device/device_run_length_encode.cuh>
#endif

namespace cg = cooperative_groups;

__global__ void tiles(const int* in, int* out) {
  __shared__ cg::block_tile_memory<256> memory;
  auto block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<128>(block);
  const int sum = cg::reduce(tile, in[threadIdx.x], cg::plus<int>());  // the user's line
  if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = sum;
}

__global__ void fill(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i / 3 + (i % 7 == 0);
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  constexpr int kCount = 20'000;
  int* memory = nullptr;
  cudaMalloc(&memory, 4 * kCount * sizeof(int));
  cudaMemset(memory, 0, 4 * kCount * sizeof(int));
  fill<<<(kCount + 255) / 256, 256>>>(memory, kCount);
  if (mode == "tiles") tiles<<<1, 256>>>(memory, memory + kCount);
#ifndef TILES_ONLY
  if (mode == "unique") {
    const thrust::device_ptr<int> begin(memory);
    thrust::unique(thrust::device, begin, begin + kCount);
  }
  if (mode == "runs") {
    std::size_t bytes = 0;
    void* scratch = nullptr;
    for (int pass = 0; pass < 2; ++pass) {
      cub::DeviceRunLengthEncode::NonTrivialRuns(scratch, bytes, memory, memory + kCount,
                                                 memory + 2 * kCount, memory + 3 * kCount, kCount);
      if (pass == 0) cudaMalloc(&scratch, bytes);
    }
    cudaFree(scratch);
  }
#endif
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(memory);
}
