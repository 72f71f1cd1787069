// Programs for races_test.py: races that are judged more strictly or more leniently than by the
// letter of PTX; the first argument selects one.
#include <cuda_runtime.h>

#include <cstdio>
#include <string>

// A sum in the style for warps in lockstep.
__global__ void tree(const int* in, int* out) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  s[t + 32] = in[t + 32];
  __syncthreads();
  s[t] += s[t + 32];
  s[t] += s[t + 16];  // tree
  s[t] += s[t + 8];
  s[t] += s[t + 4];
  s[t] += s[t + 2];
  s[t] += s[t + 1];
  if (t == 0) *out = s[0];
}

__global__ void synced_tree(const int* in, int* out) {
  __shared__ volatile int s[64];
  const int t = threadIdx.x;
  s[t] = in[t];
  s[t + 32] = in[t + 32];
  __syncthreads();
  for (int half = 32; half > 0; half /= 2) {
    const int other = s[t + half];
    __syncwarp();
    s[t] += other;
    __syncwarp();
  }
  if (t == 0) *out = s[0];
}

__global__ void message(volatile int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 7;  // message: one side
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    *out = *data;  // message: the other side
  }
}

__global__ void fenced_message(volatile int* data, volatile int* flag, int* out) {
  if (blockIdx.x == 0) {
    *data = 7;
    __threadfence();
    *flag = 1;
  } else {
    while (*flag == 0) {
    }
    __threadfence();
    *out = *data;
  }
}

__global__ void shift(int* a) {
  const int lane = threadIdx.x;
  for (int row = 0; row < 8; ++row) {
    int value = lane > 0 ? a[32 * row + lane - 1] : 0;  // shift: one side
    value = __shfl_up_sync(~0u, value, 1);
    a[32 * row + lane] = value;  // shift: the other side
  }
}

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  int* memory = nullptr;
  cudaMalloc(&memory, 1024 * sizeof(int));
  cudaMemset(memory, 0, 1024 * sizeof(int));
  int* const out = memory + 1000;
  if (mode == "tree") tree<<<1, 32>>>(memory, out);
  if (mode == "synced-tree") synced_tree<<<1, 32>>>(memory, out);
  if (mode == "message") message<<<2, 1>>>(memory, memory + 1, out);
  if (mode == "fenced-message") fenced_message<<<2, 1>>>(memory, memory + 1, out);
  if (mode == "shift") shift<<<1, 32>>>(memory);
  int result = 0;
  cudaMemcpy(&result, out, sizeof result, cudaMemcpyDeviceToHost);
  std::printf("%d\n", result);
  cudaFree(memory);
}
