// Errors: the last error, and the names and texts of all errors.
#include <cuda_runtime_api.h>

#include "vgpu/cudart/api/api.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

extern "C" {

cudaError_t cudaGetLastError() {
  return with_device([](Device& device) {
    device.enter_call();
    return device.errors().take_last();
  });
}

cudaError_t cudaPeekAtLastError() {
  return with_device([](Device& device) {
    device.enter_call();
    return device.errors().last();
  });
}

const char* cudaGetErrorName(cudaError_t error) { return text_of(error).name; }

const char* cudaGetErrorString(cudaError_t error) { return text_of(error).text; }

}  // extern "C"
