// Threads that have left the kernel while others wait for them.  An early return is right, before
// __syncwarp() and before a shuffle whose mask names the lanes that have returned.  Threads that
// skip grid.sync() or __syncthreads() by a branch and run on are not right, though they have
// nothing to do there.
// case warp: | | warp
// expect warp: clean
// case shuffle: | | shuffle
// expect shuffle: clean
// case grid: | | grid
// expect grid: error barrier-divergence grid_wait run
// case block: | | block
// expect block: error barrier-divergence block_wait run
// case unoptimized_warp: -G | | warp
// expect unoptimized_warp: clean
// case unoptimized_shuffle: -G | | shuffle
// expect unoptimized_shuffle: clean
// case unoptimized_grid: -G | | grid
// expect unoptimized_grid: error barrier-divergence
// case unoptimized_block: -G | | block
// expect unoptimized_block: error barrier-divergence block_wait run
#include <cooperative_groups.h>

#include <cstdio>
#include <cstring>

__global__ void returns_before_warp(int* out) {
  if (threadIdx.x >= 16) return;
  __syncwarp();
  if (threadIdx.x == 0) out[0] = 1;
}

__global__ void returns_before_shuffle(int* out) {
  const int t = threadIdx.x;
  if (t >= 16) return;
  out[t] = __shfl_sync(0xffffffff, t, 0);
}

__global__ void skips(int* out, bool of_grid) {
  const int t = threadIdx.x;
  if (of_grid) {
    if (t % 2 == 0) cooperative_groups::this_grid().sync();  //~ grid_wait
  } else {
    if (t < 48) __syncthreads();  //~ block_wait
  }
  if (t == 0) out[0] = 1;  //~ run
}

int main(int, char** arguments) {
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  int* out = nullptr;
  cudaMalloc(&out, 256);
  cudaMemset(out, 0, 256);
  bool of_grid = is("grid");
  void* parameters[] = {&out, &of_grid};
  if (is("warp")) {
    returns_before_warp<<<1, 64>>>(out);
  } else if (is("shuffle")) {
    returns_before_shuffle<<<1, 64>>>(out);
  } else {
    cudaLaunchCooperativeKernel(reinterpret_cast<void*>(skips), dim3(1), dim3(64), parameters, 0,
                                nullptr);
  }
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(out);
  return 0;
}
