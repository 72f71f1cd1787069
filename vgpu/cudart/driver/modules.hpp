// Loads modules for both APIs: compiler options, logs, and errors.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <string_view>

#include "vgpu/cudart/code/loaded_modules.hpp"

namespace warpcheck::cudart {

class Device;

// Options of cuModuleLoadDataEx and cuLinkCreate.  Options about how to compile have no effect
// here; unknown options are refused.
class JitOptions {
 public:
  // Throws vgpu::Refusal.  False: a value is invalid.
  bool read(unsigned count, CUjit_option* options, void** values);
  // Writes the logs to the program's buffers, with their lengths.
  void write_logs(std::string_view info, std::string_view error);

 private:
  struct Log {
    char* buffer = nullptr;
    std::size_t bytes = 0;
    void** length = nullptr;  // the value of the option for the size
    void write(std::string_view text) const;
  };
  Log info_, error_;
};

// Requires the device's lock. *module: receives the loaded module.
cudaError_t load_module(Device& device, const void* image, JitOptions& options,
                        LoadedModule** module);

// Finds a variable of the module. cudaErrorSymbolNotFound: there is none. managed: finds only
// managed variables.
cudaError_t find_variable(Device& device, const LoadedModule& module, const char* name,
                          bool managed, void** address, std::size_t* bytes);

cudaError_t unload(Device& device, LoadedModule& module);
cudaError_t count_functions(const LoadedModule& module, unsigned* count);
//   Function: a handle of a kernel in one of the APIs
template <typename Function>
cudaError_t list_functions(const LoadedModule& module, unsigned count, Function* functions) {
  if (functions == nullptr) return cudaErrorInvalidValue;
  for (unsigned i = 0; i < count && i < module.kernels.size(); ++i) {
    functions[i] = reinterpret_cast<Function>(module.kernels[i]);
  }
  return cudaSuccess;
}

}  // namespace warpcheck::cudart
