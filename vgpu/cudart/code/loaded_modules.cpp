#include "vgpu/cudart/code/loaded_modules.hpp"

#include <algorithm>

namespace warpcheck::cudart {

Kernel* LoadedModule::find_kernel(std::string_view name) const {
  const auto found = std::ranges::find(kernels, name, &Kernel::name);
  return found == kernels.end() ? nullptr : *found;
}

LoadedModules& LoadedModules::instance() {
  // never destroyed: programs call it in destructors
  static auto* const modules = new LoadedModules;
  return *modules;
}

LoadedModule& LoadedModules::load(const Trial& trial, const Allocations& allocations,
                                  std::vector<std::string> texts) {
  Registry& registry = Registry::instance();
  auto module = std::make_unique<LoadedModule>();
  module->unit = &registry.add_loaded_unit(std::move(texts));
  DeviceCode& code = module->unit->code(trial, allocations, {});
  for (const ptx::Function& function : code.whole_module().functions) {
    if (!function.is_entry || !function.has_body) continue;
    module->kernels.push_back(&registry.add_loaded_kernel(*module->unit, function.name));
  }
  LoadedModule& made = *module;
  of_unit_[made.unit] = &made;
  modules_[&made] = std::move(module);
  return made;
}

void LoadedModules::unload(const Trial& trial, Allocations& allocations, LoadedModule& module) {
  module.unit->code(trial, allocations, {}).free_variables(allocations);
  Registry::instance().remove_unit(*module.unit);
  module.is_unloaded = true;
}

LoadedModule* LoadedModules::find(const void* handle) const {
  const auto found = modules_.find(handle);
  const bool is_there = found != modules_.end() && !found->second->is_unloaded;
  return is_there ? found->second.get() : nullptr;
}

LoadedModule& LoadedModules::module_of(const Kernel& kernel) {
  const auto known = of_unit_.find(kernel.unit);
  if (known != of_unit_.end()) return *known->second;
  auto module = std::make_unique<LoadedModule>();
  module->unit = kernel.unit;
  for (const Kernel* const one : Registry::instance().kernels_of(*kernel.unit)) {
    module->kernels.push_back(const_cast<Kernel*>(one));
  }
  LoadedModule& made = *module;
  of_unit_[made.unit] = &made;
  modules_[&made] = std::move(module);
  return made;
}

}  // namespace warpcheck::cudart
