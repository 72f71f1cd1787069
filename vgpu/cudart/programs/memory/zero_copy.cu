// Kernels on host memory: mapped and page-locked, registered, write-combined; attributes of
// pointers.
// MUTANT: the registered memory is shorter than what the kernel writes.
// expect: out-of-bounds
#include <vector>

#include "check.hpp"

__global__ void square(const float* in, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] * in[i];  //~
}

int main() {
  constexpr int n = 2048;
  require(cudaSetDeviceFlags(cudaDeviceMapHost));
  float *in, *in_device, *out_device, *combined;
  require(cudaHostAlloc(&in, n * sizeof(float), cudaHostAllocMapped | cudaHostAllocPortable));
  require(cudaHostAlloc(&combined, 64, cudaHostAllocWriteCombined));
  for (int i = 0; i < n; ++i) in[i] = i % 100;
  require(cudaHostGetDevicePointer(&in_device, in, 0));
  alignas(4096) static float out[n];
#ifdef MUTANT
  require(cudaHostRegister(out, 4096, cudaHostRegisterMapped));
#else
  require(cudaHostRegister(out, sizeof out, cudaHostRegisterMapped));
#endif
  require(cudaHostGetDevicePointer(&out_device, out, 0));
  square<<<n / 128, 128>>>(in_device, out_device, n);
  require(cudaDeviceSynchronize());
  bool is_right = true;
  for (int i = 0; i < n; ++i) is_right &= out[i] == in[i] * in[i];

  cudaPointerAttributes attributes;
  require(cudaPointerGetAttributes(&attributes, in));
  is_right &= attributes.type == cudaMemoryTypeHost && attributes.hostPointer == in;
  int local;
  require(cudaPointerGetAttributes(&attributes, &local));
  is_right &= attributes.type == cudaMemoryTypeUnregistered;
  void* device;
  require(cudaMalloc(&device, 100));
  require(cudaPointerGetAttributes(&attributes, device));
  is_right &= attributes.type == cudaMemoryTypeDevice && attributes.devicePointer == device;
  unsigned flags;
  require(cudaHostGetFlags(&flags, in));
  is_right &= (flags & cudaHostAllocMapped) != 0;
  require(cudaFree(device));
  require(cudaHostUnregister(out));
  require(cudaFreeHost(combined));
  require(cudaFreeHost(in));
  return verdict(is_right);
}
