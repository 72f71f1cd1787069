// Copies bytes, and writes one past the end behind two bytes of a magic value: what the check of a
// fuzzing service's build has to find within seconds.
#include <cuda_runtime_api.h>

__global__ void planted_service_kernel(const unsigned char* in, unsigned char* out, int n) {
  const int i = static_cast<int>(threadIdx.x);
  if (i < n) out[i] = in[i];
  if (i == 0 && n > 1 && in[0] == 'W') {
    if (in[1] == 'C') out[n] = 0;
  }
}

cudaError_t planted_service(const unsigned char* in, unsigned char* out, int n) {
  planted_service_kernel<<<1, 32>>>(in, out, n);
  return cudaGetLastError();
}
