// What programs do about errors: a macro with file and line, names and texts, errors that are
// asked for once or only looked at, launches that cannot be, attempts that may fail.
// notes: api-error
#include <cstring>

#include "check.hpp"

#define CHECK_CUDA(call)                                                              \
  do {                                                                                \
    const cudaError_t status = (call);                                                \
    if (status != cudaSuccess) {                                                      \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status)); \
      return 1;                                                                       \
    }                                                                                 \
  } while (0)

__global__ void nothing() {}
__global__ void __launch_bounds__(64) small(int* out) { out[threadIdx.x] = threadIdx.x; }

int main() {
  CHECK_CUDA(cudaGetLastError());
  bool is_right = std::strcmp(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument") == 0;
  is_right &= std::strcmp(cudaGetErrorName(cudaErrorNotReady), "cudaErrorNotReady") == 0;
  nothing<<<1, 1>>>();
  CHECK_CUDA(cudaGetLastError());

  // Runtimes before 13 say cudaErrorInvalidConfiguration of some of these.
  nothing<<<1, 2000>>>();
  is_right &= cudaPeekAtLastError() == cudaErrorInvalidValue;
  is_right &= cudaGetLastError() == cudaErrorInvalidValue;
  is_right &= cudaGetLastError() == cudaSuccess;
  nothing<<<0, 32>>>();
  is_right &= cudaGetLastError() == cudaErrorInvalidValue;
  nothing<<<1, 32, 1 << 20>>>();
  is_right &= cudaGetLastError() == cudaErrorInvalidValue;
  nothing<<<dim3(1, 70000), 32>>>();
  is_right &= cudaGetLastError() == cudaErrorInvalidValue;
  int* out;
  CHECK_CUDA(cudaMalloc(&out, 128 * sizeof(int)));
  small<<<1, 128>>>(out);
  is_right &= cudaGetLastError() != cudaSuccess;
  small<<<1, 64>>>(out);
  CHECK_CUDA(cudaGetLastError());

  void* huge = nullptr;
  is_right &= cudaMalloc(&huge, size_t{1} << 50) == cudaErrorMemoryAllocation && huge == nullptr;
  is_right &= cudaGetLastError() == cudaErrorMemoryAllocation;
  is_right &= cudaMemcpy(out, nullptr, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue;
  is_right &= cudaSetDevice(1000) == cudaErrorInvalidDevice;
  is_right &= cudaFree(nullptr) == cudaSuccess && cudaDeviceSynchronize() == cudaSuccess;
  is_right &= cudaGetLastError() == cudaErrorInvalidDevice;
  CHECK_CUDA(cudaFree(out));
  return verdict(is_right);
}
