// Smooths an array by a stencil, with a grid barrier after each step: what does grid.sync() cost?
//
//   nvcc -std=c++20 -O2 -rdc=true -arch=compute_75 bench/grid_sync.cu -o grid_sync -lcudadevrt
//   warpcheck exec --jobs 1 -- ./grid_sync [ELEMENTS STEPS BLOCKS]
#include <cooperative_groups.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kThreads = 256;

__global__ void smooth(float* from, float* to, int n, int steps) {
  const auto grid = cooperative_groups::this_grid();
  for (int step = 0; step < steps; ++step) {
    for (auto i = static_cast<int>(grid.thread_rank()); i < n; i += static_cast<int>(grid.size())) {
      const float left = i > 0 ? from[i - 1] : 0, right = i + 1 < n ? from[i + 1] : 0;
      to[i] = 0.5f * from[i] + 0.25f * (left + right);
    }
    grid.sync();
    float* const written = to;
    to = from;
    from = written;
  }
}

}  // namespace

int main(int argc, char** argv) {
  int n = argc > 1 ? std::atoi(argv[1]) : 64;
  int steps = argc > 2 ? std::atoi(argv[2]) : 1000;
  const int blocks = argc > 3 ? std::atoi(argv[3]) : 16;
  float *a = nullptr, *b = nullptr;
  cudaMalloc(&a, n * sizeof *a);
  cudaMalloc(&b, n * sizeof *b);
  cudaMemset(a, 0, n * sizeof *a);
  cudaMemset(b, 0, n * sizeof *b);
  void* arguments[] = {&a, &b, &n, &steps};
  cudaLaunchCooperativeKernel(smooth, dim3(blocks), dim3(kThreads), arguments);
  const cudaError_t error = cudaDeviceSynchronize();
  std::puts(cudaGetErrorString(error));
  return error != cudaSuccess;
}
