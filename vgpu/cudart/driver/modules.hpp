// Loading of modules for both APIs: options of the compiler, logs, and errors.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/cudart/code/loaded_modules.hpp"

namespace warpcheck::cudart {

// Options of cuModuleLoadDataEx and cuLinkCreate.  What says how to compile changes nothing here;
// what is not known is refused.
class JitOptions {
 public:
  // Throws vgpu::Refusal.  False: a value that is none.
  bool read(unsigned count, CUjit_option* options, void** values);
  // Writes the logs where the program wants them, with how long they are.
  void write_logs(std::string_view info, std::string_view error);

 private:
  struct Log {
    char* buffer = nullptr;
    std::size_t bytes = 0;
    void** length = nullptr;  // the value of the option that says the size
    void write(std::string_view text) const;
  };
  Log info_, error_;
};

// Under the device's lock.  *module: what was loaded.
cudaError_t load_module(Device& device, const void* image, JitOptions& options,
                        LoadedModule** module);
// Empty: it cannot be read.
std::string read_module_file(const char* path);

// A variable of the module.  cudaErrorSymbolNotFound: there is none.  managed: only one that is.
cudaError_t find_variable(Device& device, const LoadedModule& module, const char* name,
                          bool managed, void** address, std::size_t* bytes);

}  // namespace warpcheck::cudart
