// Modules and libraries: device code that the program loads while it runs, and that of its own
// translation units, seen the same way.  A CUmodule and a CUlibrary are the same object; a CUkernel
// and a CUfunction are a Kernel, as cudaKernel_t is.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/cudart/code/registry.hpp"

namespace warpcheck::cudart {

class Device;

struct LoadedModule {
  Unit* unit = nullptr;
  std::vector<Kernel*> kernels;  // in the order of the text
  bool is_unloaded = false;
  [[nodiscard]] Kernel* find_kernel(std::string_view name) const;  // nullptr: there is none
};

class LoadedModules {
 public:
  static LoadedModules& instance();

  // Parses the texts, so that errors are told now.  Throws ptx::ParseError, vgpu::Refusal.
  LoadedModule& load(Device& device, std::vector<std::string> texts);
  void unload(Device& device, LoadedModule& module);
  // nullptr: it is none, or has been unloaded.
  [[nodiscard]] LoadedModule* find(const void* handle) const;
  // That of a kernel.
  LoadedModule& module_of(const Kernel& kernel);

 private:
  std::map<const void*, std::unique_ptr<LoadedModule>> modules_;
  std::map<const Unit*, LoadedModule*> of_unit_;
};

}  // namespace warpcheck::cudart
