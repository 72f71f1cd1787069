// cudaGetDriverEntryPoint: the runtime's queries for functions of the driver API.
#include <cuda_runtime_api.h>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/driver/driver_functions.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

cudaError_t get_driver_function(const char* symbol, void** function, int version,
                                unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  return answer([&](Device&) {
    constexpr unsigned long long kFlags = cudaEnableLegacyStream | cudaEnablePerThreadDefaultStream;
    if (symbol == nullptr || function == nullptr || (flags & ~kFlags) != 0) {
      return cudaErrorInvalidValue;
    }
    const auto [found, is_too_new] =
        find_driver_function(symbol, version, (flags & cudaEnablePerThreadDefaultStream) != 0);
    *function = found;
    if (status == nullptr) return found != nullptr ? cudaSuccess : cudaErrorSymbolNotFound;
    *status = found != nullptr ? cudaDriverEntryPointSuccess
              : is_too_new     ? cudaDriverEntryPointVersionNotSufficent
                               : cudaDriverEntryPointSymbolNotFound;
    return cudaSuccess;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return get_driver_function(symbol, function, CUDART_VERSION, flags, status);
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  return get_driver_function(symbol, function, static_cast<int>(version), flags, status);
}

}  // extern "C"
