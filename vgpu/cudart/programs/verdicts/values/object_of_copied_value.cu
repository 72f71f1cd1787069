// A kernel reads an array that nothing has written and stores it to another one, which the host copies: the finding
// is about the array that was read, and says where the copied value lies.
//
// build: -arch=compute_75
// case shared: | | shared
// expect shared: error uninitialized-read shared copy
// says shared: uninitialized-read on shared memory tile[3], 4 bytes, in kernel shared
// says shared: the value lies in global memory, allocation of 256 bytes [0], first of a copy of 256 bytes
// case local: | | local
// expect local: error uninitialized-read local copy
// says local: uninitialized-read on local memory local variable, 4 bytes, in kernel local
// says local: the value lies in global memory, allocation of 256 bytes [0], first of a copy of 256 bytes
// case local_g: -G | | local
// expect local_g: error uninitialized-read local copy
// case global: | | global
// expect global: error uninitialized-read global copy
// says global: uninitialized-read on global memory allocation of 128 bytes [1], 4 bytes, in kernel global
// says global: the value lies in global memory, allocation of 256 bytes [0], first of a copy of 256 bytes
#include <cstring>

__global__ void shared(int* out, int n) {
  __shared__ int tile[64];
  out[threadIdx.x] = tile[(threadIdx.x + n) % 64];  //~ shared
}
__global__ void local(int* out, int n) {
  int tile[64];
  if (n > 64) {
    for (int i = 0; i < n; ++i) tile[i % 64] = i;
  }
  out[threadIdx.x] = tile[(threadIdx.x + n) % 64];  //~ local
}
__global__ void global(int* out, const int* in) { out[threadIdx.x] = in[threadIdx.x % 4 + 1]; }  //~ global

int main(int, char** arguments) {
  int *p, *q, h[64];
  cudaMalloc(&p, sizeof h);
  cudaMalloc(&q, 128);
  const auto is = [&](const char* name) { return std::strcmp(arguments[1], name) == 0; };
  if (is("shared")) shared<<<1, 64>>>(p, 3);
  if (is("local")) local<<<1, 64>>>(p, 3);
  if (is("global")) global<<<1, 64>>>(p, q);
  cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);  //~ copy
  cudaFree(p);
  cudaFree(q);
  return 0;
}
