// Algorithms of CUB and thrust that race by the letter and cannot go wrong are notes, and so are headers of the
// toolkit that are called from a user's line; what the user does wrong with them is an error.
// ci/exec/library_copies_test.py builds it with a copy of the libraries in a folder of the project.
// case remove: -arch=compute_80 | | remove
// expect remove: note data-race
// case unique: -arch=compute_80 | | unique
// expect unique: note data-race
// says unique: thrust::unique overwrites a tile
// case runs: -arch=compute_80 | | runs
// expect runs: note data-race
// says runs: NonTrivialRuns writes all items
// case tiles: -DTILES_ONLY | | tiles
// expect tiles: note data-race tiles
// says tiles: its shuffle or vote decides
// says tiles: /include/cooperative_groups
// case tiles_without_lines: -DTILES_ONLY -no-lineinfo | | tiles
// expect tiles_without_lines: note data-race
// says tiles_without_lines: its shuffle or vote decides
// case ignored: -DTILES_ONLY | --ignore */include/cooperative_groups* | tiles
// expect ignored: clean
// says ignored: ignored
// case overlap: -arch=compute_80 | | overlap
// expect overlap: error data-race
// expect overlap: note data-race
// says overlap: the kernel was launched at library_algorithms.cu:106
// case overlap_by_key: -arch=compute_80 | | 'overlap by key'
// expect overlap_by_key: error data-race
// expect overlap_by_key: note data-race
// case unset: -arch=compute_80 | | unset
// expect unset: error uninitialized-read unset copied
// case failed_call: -arch=compute_80 | | 'failed call'
// expect failed_call: note api-error failed_call
// case own_header: -arch=compute_80 | | 'own header'
// expect own_header: error data-race
// expect own_header: error uninitialized-read
// case own_unset: -arch=compute_80 | | 'own unset'
// expect own_unset: error uninitialized-read
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include <cstdio>
#include <string>
#ifndef TILES_ONLY
#include <thrust/device_ptr.h>
#include <thrust/device_vector.h>
#include <thrust/execution_policy.h>
#include <thrust/remove.h>
#include <thrust/unique.h>

#include <cub/block/block_reduce.cuh>
#include <cub/device/device_run_length_encode.cuh>

#include "cub/sums.cuh"
#endif

namespace cg = cooperative_groups;

// Runs of `length` equal values.
__global__ void fill(int* data, int n, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] = i / length;
}

__global__ void tiles(const int* in, int* out) {
  __shared__ cg::block_tile_memory<256> memory;
  auto block = cg::this_thread_block(memory);
  auto tile = cg::tiled_partition<128>(block);
  const int sum = cg::reduce(tile, in[threadIdx.x], cg::plus<int>());  //~ tiles
  if (tile.thread_rank() == 0) out[tile.meta_group_rank()] = sum;
}

#ifndef TILES_ONLY
struct IsOdd {
  __device__ bool operator()(int x) const { return x % 2 != 0; }
};

__global__ void unset(const int* in, int* out, int n) {
  using Reduce = cub::BlockReduce<int, 128>;
  __shared__ Reduce::TempStorage temp;
  const int i = threadIdx.x;
  int v;
  if (i < n) v = in[i];
  const int sum = Reduce(temp).Sum(v);  //~ unset
  if (i == 0) *out = sum;
}

__global__ void own_header(int* out) { *out = cub::sum_of_block(threadIdx.x); }

__global__ void own_unset(int* out, int n) { out[threadIdx.x] = cub::item_or_nothing(out, n); }
#endif

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  constexpr int kCount = 20'000;
  int* memory = nullptr;
  cudaMalloc(&memory, 4 * kCount * sizeof(int));
  cudaMemset(memory, 0, 4 * kCount * sizeof(int));
  const bool overlaps = mode.rfind("overlap", 0) == 0;  // then nothing is dropped
  fill<<<(kCount + 255) / 256, 256>>>(memory, kCount, overlaps ? 1 : 3);
  if (mode == "tiles") tiles<<<1, 256>>>(memory, memory + kCount);
#ifndef TILES_ONLY
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
      thrust::device_vector<char> all(std::size_t{1} << 45);  //~ failed_call
    } catch (const std::exception&) {
    }
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
  int host[128];
  const bool one = mode == "unset";
  cudaMemcpy(host, one ? memory + kCount : memory, one ? 4 : sizeof host, cudaMemcpyDeviceToHost);  //~ copied
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(memory);
  return 0;
}
