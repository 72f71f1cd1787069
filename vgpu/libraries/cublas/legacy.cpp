#include "vgpu/libraries/cublas/legacy.hpp"

#include <cublas.h>

#include <utility>

extern "C" {
cudaError_t warpcheck_cudaMalloc(void** pointer, std::size_t bytes);
cudaError_t warpcheck_cudaFree(void* pointer);
}

namespace warpcheck::libraries::cublas {
namespace {

cublasHandle_t handle = nullptr;  // null before cublasInit() and after cublasShutdown()
cublasStatus_t error = CUBLAS_STATUS_SUCCESS;

// Keeps a failure for cublasGetError(), and returns the status.
cublasStatus_t kept(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) error = status;
  return status;
}

}  // namespace

cublasStatus_t answer_legacy(const Call& made, Body body, std::initializer_list<Count> counts) {
  if (handle != nullptr) return kept(answer(made, handle, body, counts));
  try {
    throw Rejected{CUBLAS_STATUS_NOT_INITIALIZED, "cublasInit() has not been called"};
  } catch (...) {
    return kept(rejected(made, counts));
  }
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
