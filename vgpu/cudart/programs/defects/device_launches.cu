// Dynamic parallelism: grids that device code launches, their order, memory of the device runtime.
// nvcc: -rdc=true -lcudadevrt
//
// A run without an argument is right.  With one it has that defect:
// clang-format off
// defect no_barrier: data-race; nothing orders these two grids: one of them was launched by device code
// defect no_end: data-race; nothing orders these two grids: one of them was launched by device code
// defect two_streams: data-race; nothing orders these two grids: one of them was launched by device code
// defect local: out-of-bounds; (1) passes an address of local memory to a grid, which cannot use memory of another thread
// defect child_bounds: out-of-bounds; (1) is outside every allocation
// clang-format on
#include <cstring>

#include "../check.hpp"

constexpr int kThreads = 64, kBytes = kThreads * sizeof(int);
enum Defect { none, no_barrier, no_end, two_streams, local, child_bounds };

__global__ void doubled(int* values, int count) {
  const int i = threadIdx.x;
  if (i < count) values[i] *= 2;  //~ no_barrier no_end two_streams child_bounds
}

__global__ void sum(const int* values, int* out) {
  int total = 0;
  for (int i = 0; i < kThreads; ++i) total += values[i];
  *out = total;
}

// Launches itself for the halves, as quicksort does.
__global__ void depth(int level, int* deepest) {
  atomicMax(deepest, level);
  if (level < 4 && threadIdx.x == 0) depth<<<1, 2>>>(level + 1, deepest);
}

__global__ void parent(int* values, int* out, Defect defect) {
  values[threadIdx.x] = threadIdx.x;  //~ no_barrier
  if (defect != no_barrier) __syncthreads();
  if (threadIdx.x != 0) return;
  const int count = defect == child_bounds ? kThreads + 1 : kThreads;
  doubled<<<1, 2 * kThreads>>>(values, count);
  if (defect == two_streams) {
    cudaStream_t other;
    cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    doubled<<<1, kThreads, 0, other>>>(values, kThreads);
    cudaStreamDestroy(other);
  } else {
    doubled<<<1, kThreads>>>(values, kThreads);  // after the first: they are in one stream
  }
  if (defect == no_end) *out = values[1];  //~ no_end
  if (defect == local) {
    int own[2] = {1, 2};
    void* const pointer = own;
    doubled<<<1, 2>>>(static_cast<int*>(pointer), 2);  //~ local
  }
  sum<<<1, 1, 0, cudaStreamTailLaunch>>>(values, out);
  int* copy;
  if (cudaMalloc(&copy, sizeof(int)) == cudaSuccess) {
    *copy = 1;
    cudaFree(copy);
  }
  if (cudaGetLastError() != cudaSuccess) printf("%s\n", cudaGetErrorString(cudaPeekAtLastError()));
}

// A copy and a fill in a stream with a grid between them.
__global__ void copies(int* values, const int* from) {
  cudaMemcpyAsync(values, from, kBytes, cudaMemcpyDeviceToDevice, 0);
  doubled<<<1, kThreads>>>(values, kThreads);
  cudaMemsetAsync(values, 0, sizeof(int), 0);
}

int main(int count, char** arguments) {
  const char* const names[] = {"none",        "no_barrier", "no_end",
                               "two_streams", "local",      "child_bounds"};
  Defect defect = none;
  for (int i = 0; i < 6; ++i) {
    if (count > 1 && std::strcmp(arguments[1], names[i]) == 0) defect = static_cast<Defect>(i);
  }
  int *values, *out, *more, result = 0;
  require(cudaMalloc(&values, kBytes));
  require(cudaMalloc(&more, kBytes));
  require(cudaMalloc(&out, sizeof(int)));
  parent<<<1, kThreads>>>(values, out, defect);
  require(cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost));
  bool is_right = result == 4 * (kThreads * (kThreads - 1) / 2);
  copies<<<1, 1>>>(more, values);
  int host[kThreads];
  require(cudaMemcpy(host, more, kBytes, cudaMemcpyDeviceToHost));
  is_right &= host[0] == 0 && host[2] == 16;
  require(cudaMemset(out, 0, sizeof(int)));
  depth<<<1, 2>>>(0, out);
  require(cudaMemcpy(&result, out, sizeof(int), cudaMemcpyDeviceToHost));
  is_right &= result == 4;
  for (int* const each : {values, out, more}) require(cudaFree(each));
  return verdict(is_right);
}
