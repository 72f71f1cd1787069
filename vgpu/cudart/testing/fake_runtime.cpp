// For tests: a CUDA runtime library without a GPU.  Device memory is host memory.  It can run one
// kernel, histogram_global_kernel; launches of other kernels have no effect.
//
// FAKE_GPU in the environment selects a defect: "none" (there is no device), "illegal", "hang",
// "crash" (the effect of the fifth launch).
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace {

std::map<const void*, std::string>& kernels() {
  static std::map<const void*, std::string> by_host_function;
  return by_host_function;
}

cudaError_t sticky = cudaSuccess;
cudaError_t last = cudaSuccess;
int launches = 0;

cudaError_t answer(cudaError_t error) {
  if (sticky != cudaSuccess) error = sticky;
  if (error != cudaSuccess) last = error;
  return error;
}

std::string wish() {
  const char* const text = std::getenv("FAKE_GPU");
  return text == nullptr ? "" : text;
}

void histogram(const std::uint8_t* in, std::uint32_t* counts, std::uint64_t n) {
  for (std::uint64_t i = 0; i < n; ++i) ++counts[in[i]];
}

template <typename T>
T argument(void** arguments, int number) {
  return *static_cast<T*>(arguments[number]);
}

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the names are part of the ABI.
extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) { return static_cast<void**>(wrapper); }
void __cudaRegisterFatBinaryEnd(void**) {}
void __cudaRegisterFunction(void**, const char* host_function, char*, const char* name, int, uint3*,
                            uint3*, dim3*, dim3*, int*) {
  kernels()[host_function] = name;
}
void __cudaRegisterVar(void**, char*, char*, const char*, int, size_t, int, int) {}
void __cudaRegisterManagedVar(void**, void**, char*, const char*, int, size_t, int, int) {}
char __cudaInitModule(void**) { return 1; }

const char* cudaGetErrorName(cudaError_t error) {
  if (error == cudaErrorNoDevice) return "cudaErrorNoDevice";
  return error == cudaErrorIllegalAddress ? "cudaErrorIllegalAddress" : "cudaErrorOther";
}
const char* cudaGetErrorString(cudaError_t error) {
  if (error == cudaErrorNoDevice) return "no CUDA-capable device is detected";
  return error == cudaErrorIllegalAddress ? "an illegal memory access was encountered" : "other";
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return wish() == "none" ? cudaErrorNoDevice : cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "Fake GPU");
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 13020;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  *pointer = bytes == 0 ? nullptr : std::malloc(bytes);
  return answer(cudaSuccess);
}
cudaError_t cudaFree(void* pointer) {
  std::free(pointer);
  return answer(cudaSuccess);
}
cudaError_t cudaMemcpy(void* target, const void* source, size_t bytes, cudaMemcpyKind) {
  std::memmove(target, source, bytes);
  return answer(cudaSuccess);
}
cudaError_t cudaMemset(void* target, int value, size_t bytes) {
  std::memset(target, value, bytes);
  return answer(cudaSuccess);
}
cudaError_t cudaDeviceSynchronize() { return answer(cudaSuccess); }
cudaError_t cudaGetLastError() {
  const cudaError_t error = last;
  last = cudaSuccess;
  return error;
}
cudaError_t cudaPeekAtLastError() { return last; }

// The virtual device does not have this function: a successful call shows that functions are
// forwarded by name alone.
cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int) {
  std::strncpy(text, "0000:fa:ce.0", static_cast<size_t>(size));
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* function, dim3, dim3, void** arguments, size_t,
                             cudaStream_t) {
  const auto kernel = kernels().find(function);
  if (kernel == kernels().end()) return answer(cudaErrorInvalidDeviceFunction);
  if (++launches == 5) {
    if (wish() == "illegal") sticky = cudaErrorIllegalAddress;
    if (wish() == "crash") std::raise(SIGSEGV);
    while (wish() == "hang") ::sleep(1);
  }
  if (kernel->second == "_Z23histogram_global_kernelPKhPjm") {
    histogram(argument<const std::uint8_t*>(arguments, 0), argument<std::uint32_t*>(arguments, 1),
              argument<std::uint64_t>(arguments, 2));
  }
  if (kernel->second == "store_seven") *argument<int*>(arguments, 0) = 7;
  return answer(cudaSuccess);
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  return cudaLaunchKernel(function, config->gridDim, config->blockDim, arguments,
                          config->dynamicSmemBytes, config->stream);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
