// Modules and libraries: device code that the program loads at run time, and the code of its own
// translation units in the same form.  A CUmodule and a CUlibrary are the same object; a CUkernel
// and a CUfunction are a Kernel, like cudaKernel_t.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/cudart/code/registry.hpp"

namespace warpcheck::cudart {

class Allocations;
class Trial;

struct LoadedModule {
  Unit* unit = nullptr;
  std::vector<Kernel*> kernels;  // in the order of the text
  bool is_unloaded = false;
  [[nodiscard]] Kernel* find_kernel(std::string_view name) const;  // nullptr: there is none
};

class LoadedModules {
 public:
  static LoadedModules& instance();

  // Parses the texts, so that errors are reported now.  Throws ptx::ParseError, vgpu::Refusal.
  LoadedModule& load(const Trial& trial, const Allocations& allocations,
                     std::vector<std::string> texts);
  // Nothing that uses the module may be pending.
  void unload(const Trial& trial, Allocations& allocations, LoadedModule& module);
  // Returns nullptr if it is no module, or has been unloaded.
  [[nodiscard]] LoadedModule* find(const void* handle) const;
  LoadedModule& module_of(const Kernel& kernel);

 private:
  std::map<const void*, std::unique_ptr<LoadedModule>> modules_;
  std::map<const Unit*, LoadedModule*> of_unit_;
};

}  // namespace warpcheck::cudart
