// Whole warps of a block meet at two __syncthreads() in the branches of an `if` that is uniform
// in each warp. PTX allows it, and warp-specialised kernels rely on it; the programming guide
// wants the condition uniform in the block.  It is an error as soon as a warp diverges, or a warp
// stays out.
// case warps: | | 32
// expect warps: note barrier-divergence one other
// says warps: PTX lets whole warps meet so
// prints warps: 1 no error
// case diverged: | | 40
// expect diverged: error barrier-divergence one other
// case out: | | out
// expect out: error barrier-divergence out_one out_run
// expect out: error barrier-divergence out_one out_other
// case unoptimized_warps: -G | | 32
// expect unoptimized_warps: note barrier-divergence one other
// case unoptimized_diverged: -G | | 40
// expect unoptimized_diverged: error barrier-divergence one other
// case jobs: | --jobs 2 | 32
// expect jobs: note barrier-divergence one other
#include <cstdio>
#include <cstdlib>
#include <cstring>

__global__ void roles(int* out, int n) {
  __shared__ int values[64];
  if (threadIdx.x < n) {
    values[threadIdx.x] = 1;
    __syncthreads();  //~ one
    out[threadIdx.x] = values[threadIdx.x];
  } else {
    __syncthreads();  //~ other
    out[threadIdx.x] = values[threadIdx.x - 32];
  }
}

__global__ void third_stays_out(int* out) {
  __shared__ int values[96];
  values[threadIdx.x] = 1;
  if (threadIdx.x < 32) {
    out[threadIdx.x] = 1;
    __syncthreads();  //~ out_one
  } else if (threadIdx.x < 64) {
    __syncthreads();  //~ out_other
    out[threadIdx.x] = 2;
  }
  out[threadIdx.x + 96] = values[threadIdx.x];  //~ out_run
}

int main(int, char** arguments) {
  int* out = nullptr;
  int result[192] = {};
  cudaMalloc(&out, sizeof result);
  cudaMemset(out, 0, sizeof result);
  if (std::strcmp(arguments[1], "out") == 0) {
    third_stays_out<<<1, 96>>>(out);
  } else {
    roles<<<1, 64>>>(out, std::atoi(arguments[1]));
  }
  cudaMemcpy(result, out, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%d %s\n", result[63], cudaGetErrorString(cudaGetLastError()));
  cudaFree(out);
  return 0;
}
