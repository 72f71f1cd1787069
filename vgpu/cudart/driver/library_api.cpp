// Libraries of device code in the runtime API, which are those of the driver (CUDA Runtime API,
// "Library Management"), and kernels of the program as functions of the driver.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <string>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/driver/modules.hpp"
#include "vgpu/text/file_text.hpp"

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

namespace {

template <typename Body>
cudaError_t of_library(cudaLibrary_t library, Body&& body) {
  return answer([&](Device& device) {
    LoadedModule* const module = LoadedModules::instance().find(library);
    return module == nullptr ? cudaErrorInvalidResourceHandle : body(device, *module);
  });
}

cudaError_t load(cudaLibrary_t* library, const void* image, cudaJitOption* options, void** values,
                 unsigned count) {
  return answer([&](Device& device) {
    if (library == nullptr) return cudaErrorInvalidValue;
    JitOptions read;
    // The runtime's options have the driver's numbers.
    if (!read.read(count, reinterpret_cast<CUjit_option*>(options), values)) {
      return cudaErrorInvalidValue;
    }
    LoadedModule* module = nullptr;
    const cudaError_t error = load_module(device, image, read, &module);
    if (error == cudaSuccess) *library = reinterpret_cast<cudaLibrary_t>(module);
    return error;
  });
}

}  // namespace

extern "C" {

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* image, cudaJitOption* options,
                                void** values, unsigned count, cudaLibraryOption*, void**,
                                unsigned) {
  return load(library, image, options, values, count);
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* path,
                                    cudaJitOption* options, void** values, unsigned count,
                                    cudaLibraryOption*, void**, unsigned) {
  if (path == nullptr) return fail(cudaErrorInvalidValue);
  const std::string bytes = warpcheck::text_of_file(path);
  if (bytes.empty()) return fail(cudaErrorFileNotFound);
  return load(library, bytes.c_str(), options, values, count);
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library) { return of_library(library, unload); }

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t library, const char* name) {
  return of_library(library, [&](Device&, const LoadedModule& module) {
    if (kernel == nullptr || name == nullptr) return cudaErrorInvalidValue;
    *kernel = reinterpret_cast<cudaKernel_t>(module.find_kernel(name));
    return *kernel != nullptr ? cudaSuccess : cudaErrorSymbolNotFound;
  });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t library) {
  return of_library(
      library, [&](Device&, const LoadedModule& module) { return count_functions(module, count); });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count,
                                        cudaLibrary_t library) {
  return of_library(library, [&](Device&, const LoadedModule& module) {
    return list_functions(module, count, kernels);
  });
}

cudaError_t cudaLibraryGetGlobal(void** address, size_t* bytes, cudaLibrary_t library,
                                 const char* name) {
  return of_library(library, [&](Device& device, const LoadedModule& module) {
    return find_variable(device, module, name, false, address, bytes);
  });
}

cudaError_t cudaLibraryGetManaged(void** address, size_t* bytes, cudaLibrary_t library,
                                  const char* name) {
  return of_library(library, [&](Device& device, const LoadedModule& module) {
    return find_variable(device, module, name, true, address, bytes);
  });
}

// No device has unified functions (cudaDeviceProp::unifiedFunctionPointers is 0).
cudaError_t cudaLibraryGetUnifiedFunction(void** function, cudaLibrary_t library,
                                          const char* name) {
  return of_library(library, [&](Device&, const LoadedModule&) {
    return function == nullptr || name == nullptr ? cudaErrorInvalidValue : cudaErrorSymbolNotFound;
  });
}

cudaError_t cudaGetFuncBySymbol(cudaFunction_t* function, const void* symbol) {
  return answer_even_after_a_fault([&](Device&) {
    if (function == nullptr) return cudaErrorInvalidValue;
    Kernel* const kernel = Registry::instance().find_kernel(symbol);
    *function = reinterpret_cast<cudaFunction_t>(kernel);
    return kernel != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
  });
}

}  // extern "C"
