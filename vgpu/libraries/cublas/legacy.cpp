#include "vgpu/libraries/cublas/legacy.hpp"

#include <cublas.h>

#include <utility>

extern "C" {
cudaError_t warpcheck_cudaMalloc(void** pointer, std::size_t bytes);
cudaError_t warpcheck_cudaFree(void* pointer);
}

namespace warpcheck::libraries::cublas {
namespace {

cublasHandle_t handle = nullptr;
cublasStatus_t error = CUBLAS_STATUS_SUCCESS;

}  // namespace

cublasHandle_t legacy_handle() { return handle; }
cublasStatus_t keep_legacy_error(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) error = status;
  return status;
}

}  // namespace warpcheck::libraries::cublas

using namespace warpcheck::libraries::cublas;  // NOLINT(google-build-using-namespace)

#define HERE(function) \
  { function, __builtin_return_address(0) }

extern "C" {

cublasStatus_t cublasInit() {
  return handle != nullptr ? CUBLAS_STATUS_SUCCESS : cublasCreate_v2(&handle);
}
cublasStatus_t cublasShutdown() {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  return cublasDestroy_v2(std::exchange(handle, nullptr));
}
cublasStatus_t cublasGetError() { return std::exchange(error, CUBLAS_STATUS_SUCCESS); }
cublasStatus_t cublasGetVersion(int* version) {
  return answer_legacy(HERE("cublasGetVersion"),
                       [&](BlasCall&) {
                         require(version != nullptr, "version is a null pointer");
                         *version = CUBLAS_VERSION;
                       },
                       {});
}
cublasStatus_t cublasSetKernelStream(cudaStream_t stream) {
  return answer_legacy(HERE("cublasSetKernelStream"), [&](BlasCall&) { handle->stream = stream; },
                       {});
}
cublasStatus_t cublasAlloc(int n, int elemSize, void** devicePtr) {
  return answer_legacy(
      HERE("cublasAlloc"),
      [&](BlasCall&) {
        require(n > 0, "n is {}", n);
        require(elemSize > 0, "elemSize is {}", elemSize);
        require(devicePtr != nullptr, "devicePtr is a null pointer");
        const auto bytes = static_cast<std::size_t>(n) * static_cast<std::size_t>(elemSize);
        if (warpcheck_cudaMalloc(devicePtr, bytes) == cudaSuccess) return;
        throw Rejected{CUBLAS_STATUS_ALLOC_FAILED, fmt::format("there are no {} bytes", bytes)};
      },
      {});
}
cublasStatus_t cublasFree(void* devicePtr) {
  return answer_legacy(HERE("cublasFree"),
                       [&](BlasCall&) {
                         if (warpcheck_cudaFree(devicePtr) == cudaSuccess) return;
                         throw Rejected{CUBLAS_STATUS_INTERNAL_ERROR, "cudaFree() failed"};
                       },
                       {});
}

}  // extern "C"
