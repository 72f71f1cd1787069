// A block that runs long, stores and meets at barriers, as in a sort of a long segment: the search for
// livelocks, which looks at it from time to time, costs a fraction of the launch.
// build: -arch=compute_80
// case plain:
// expect plain: clean
// prints plain: cudaSuccess
// case unoptimised: -G
// expect unoptimised: clean
// prints unoptimised: cudaSuccess
#include <cstdio>

__global__ void fill(int* out, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    out[(blockIdx.x * 4096 + i % 4096) * blockDim.x + threadIdx.x] = i;
    __syncthreads();
  }
}

int main() {
  int* out;
  cudaMalloc(&out, 2 * 4096 * 256 * 4);
  fill<<<2, 256>>>(out, 8000);
  printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
  cudaFree(out);
  return 0;
}
