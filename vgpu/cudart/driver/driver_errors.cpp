#include "vgpu/cudart/driver/driver_errors.hpp"

#include "vgpu/cudart/device/enum_number.hpp"

namespace warpcheck::cudart {

// CUDA Runtime API, enum cudaError: driver errors have the driver's numbers.  Errors that only the
// runtime has concern arguments.
CUresult result_of(cudaError_t error) {
  const auto number = static_cast<CUresult>(number_of(error));
  switch (number) {
#define ERROR(name) case name:
#include "vgpu/cudart/driver/driver_errors.def"
#undef ERROR
    return number;
    default: break;
  }
  switch (number_of(error)) {
    case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_INVALID_HANDLE;
    case cudaErrorInvalidSymbol: return CUDA_ERROR_NOT_FOUND;
    default: return CUDA_ERROR_INVALID_VALUE;
  }
}

ErrorText driver_text_of(CUresult error) {
  const int number = number_of(error);
  switch (number) {
    case CUDA_ERROR_CONTEXT_ALREADY_CURRENT:
      return {"CUDA_ERROR_CONTEXT_ALREADY_CURRENT", "context already current"};
    case CUDA_ERROR_KEY_ROTATION: return {"CUDA_ERROR_KEY_ROTATION", "key rotation"};
    default: break;
  }
  const auto runtime = static_cast<cudaError_t>(number);
  switch (number) {
#define ERROR(name) \
  case name:        \
    return {#name, text_of(runtime).text};
#include "vgpu/cudart/driver/driver_errors.def"
#undef ERROR
    default: return {nullptr, nullptr};
  }
}

}  // namespace warpcheck::cudart
