// Copies bytes, and writes past the end where it meets a magic one: what the check of a fuzzing
// service's build has to find within seconds.
#include <cuda_runtime_api.h>

__global__ void planted_service_kernel(const unsigned char* in, unsigned char* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i >= n) return;
  out[i] = in[i];
  if (in[i] == 'W') {
    out[n + i] = 0;
  }
}

cudaError_t planted_service(const unsigned char* in, unsigned char* out, int n) {
  planted_service_kernel<<<1, 32>>>(in, out, n);
  return cudaGetLastError();
}
