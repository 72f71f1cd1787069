// Programs of expected_test.py, each with findings that a file of expectations names.
#include <cstdio>
#include <cstring>

template <typename T>
__global__ void race(T* out) {
  __shared__ T s[64];
  s[threadIdx.x] = 1;
  out[threadIdx.x] = s[(threadIdx.x + 32) % 64];  // another warp's
}

__global__ void overrun(int* out) {
  out[threadIdx.x + 64] = 1;  // behind the end
}

__global__ void same(int* out) {
  out[0] = 1;  // of every block
}

int main(int count, char** modes) {
  int* out = nullptr;
  cudaMalloc(&out, 64 * sizeof(int));
  for (int i = 1; i < count; ++i) {
    if (std::strcmp(modes[i], "race") == 0) race<int><<<1, 64>>>(out);
    if (std::strcmp(modes[i], "overrun") == 0) overrun<<<1, 1>>>(out);
    if (std::strcmp(modes[i], "same") == 0) same<<<2, 1>>>(out);
    if (std::strcmp(modes[i], "call") == 0) cudaMemset(out, 0, 0x7fffffff);  // too much
    if (std::strcmp(modes[i], "die") == 0) __builtin_trap();
  }
  cudaDeviceSynchronize();
  cudaFree(out);
}
