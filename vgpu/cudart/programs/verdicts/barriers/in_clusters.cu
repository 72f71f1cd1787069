// Threads, or whole blocks, pass the barrier of their cluster by and run on behind it.  A block
// that has left the kernel is not waited for.
// build: -arch=compute_90
// case threads: | | 1
// expect threads: error barrier-divergence threads_wait run
// case block: | | 2
// expect block: error barrier-divergence block_wait run
// case all: | | 0
// expect all: clean
// case left: | | 3
// expect left: clean
// With -G the waiting side is the header's line: nvcc records no call there.
// case unoptimized_threads: -G | | 1
// expect unoptimized_threads: error barrier-divergence
// case unoptimized_left: -G | | 3
// expect unoptimized_left: clean
#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>

__global__ void __cluster_dims__(2) in_cluster(int* out, int mode) {
  const int block = blockIdx.x;
  if (mode == 3 && block == 1) return;
  if (mode == 1) {
    if (threadIdx.x < 16) cooperative_groups::this_cluster().sync();  //~ threads_wait
  } else if (mode == 2) {
    if (block == 0) cooperative_groups::this_cluster().sync();  //~ block_wait
  } else {
    cooperative_groups::this_cluster().sync();
  }
  out[block * 32 + threadIdx.x] = 1;  //~ run
}

int main(int, char** arguments) {
  int* out = nullptr;
  cudaMalloc(&out, 256);
  cudaMemset(out, 0, 256);
  in_cluster<<<2, 32>>>(out, std::atoi(arguments[1]));
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  cudaFree(out);
  return 0;
}
