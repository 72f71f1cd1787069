// Errors: the last one, and the names and texts of all.
#include <cuda_runtime_api.h>

#include "vgpu/cudart/api/api.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

extern "C" {

cudaError_t cudaGetLastError() {
  Device& device = Device::instance();
  const std::lock_guard lock(device.mutex());
  device.enter_call();
  return device.errors().take_last();
}

cudaError_t cudaPeekAtLastError() {
  Device& device = Device::instance();
  const std::lock_guard lock(device.mutex());
  device.enter_call();
  return device.errors().last();
}

const char* cudaGetErrorName(cudaError_t error) { return text_of(error).name; }

const char* cudaGetErrorString(cudaError_t error) { return text_of(error).text; }

}  // extern "C"
