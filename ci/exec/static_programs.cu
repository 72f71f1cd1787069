// Programs for static_test.py, built by nvcc's default with the static runtime library inside: a
// program, and a library that calls the runtime before and after main.
#include <cuda_runtime.h>
#include <mma.h>

#include <cstdio>
#include <cstring>

__constant__ int factor;
__device__ int scaled;
__managed__ int last;

__global__ void scale(int* data, int n) {
  const int i = threadIdx.x;
  if (i < n) data[i] *= factor;
  atomicAdd(&scaled, 1);
  if (i == 0) std::printf("scaled by %d\n", factor);
  if (i == n - 1) last = data[i];
}

__device__ void multiply() {
  namespace wmma = nvcuda::wmma;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum;
  wmma::fill_fragment(a, 1);
  wmma::fill_fragment(b, 2);
  wmma::fill_fragment(sum, 3);
  wmma::mma_sync(sum, a, b, sum);
  if (threadIdx.x == 0) std::printf("%g\n", sum.x[0]);
}

__global__ void multiply_before() { multiply(); }

__global__ void multiply_at_end() { multiply(); }

__global__ void overrun(int* data, int n) {
  data[n] = 1;  // overrun
}

// Multiplies data in device memory of any owner by 3; 0: all calls succeeded.
extern "C" int scale_by_three(int* data, int n) {
  const int three = 3;
  if (cudaMemcpyToSymbol(factor, &three, sizeof three) != cudaSuccess) return 1;
  cudaStream_t stream;
  if (cudaStreamCreate(&stream) != cudaSuccess) return 1;
  scale<<<1, 32, 0, stream>>>(data, n);
  if (cudaStreamSynchronize(stream) != cudaSuccess) return 1;
  return cudaStreamDestroy(stream) == cudaSuccess ? 0 : 1;
}

// Returns 0 if the results are right.
extern "C" int use_device(int is_wrong) {
  int host[32], *data, blocks = 0;
  const int n = 32;
  for (int i = 0; i < n; ++i) host[i] = i;
  if (cudaMalloc(&data, sizeof host) != cudaSuccess) return 1;
  cudaMemcpy(data, host, sizeof host, cudaMemcpyHostToDevice);
  if (scale_by_three(data, n) != 0) return 1;
  if (is_wrong) overrun<<<1, 1>>>(data, n);
  cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost);
  cudaFree(data);
  cudaMemcpyFromSymbol(&blocks, scaled, sizeof blocks);
  const bool is_right = host[31] == 93 && last == 93 && blocks % n == 0 && blocks > 0;
  std::puts(is_right ? "right" : "wrong");
  return is_right ? 0 : 1;
}

struct AllTheTime {
  bool launches_at_end = false;
  AllTheTime() {
    int devices = 0;
    cudaGetDeviceCount(&devices);
    std::printf("%d device\n", devices);
  }
  ~AllTheTime() {
    if (!launches_at_end) return;
    multiply_at_end<<<1, 32>>>();
    std::puts(cudaGetErrorName(cudaDeviceSynchronize()));
  }
} all_the_time;

int main(int argc, char** argv) {
  const char* const mode = argc > 1 ? argv[1] : "";
  all_the_time.launches_at_end = std::strcmp(mode, "at-end") == 0;
  if (all_the_time.launches_at_end) multiply_before<<<1, 32>>>();
  return use_device(std::strcmp(mode, "wrong") == 0);
}
