// The registration functions that nvcc's host objects call from static constructors
// (crt/host_runtime.h), and those of the generated objects with unoptimised PTX.
#include <cuda_runtime_api.h>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/cudart/device/device.hpp"

using warpcheck::cudart::Device;
using warpcheck::cudart::Registry;
using warpcheck::cudart::Unit;
using warpcheck::cudart::with_device;

namespace {

// A library that is opened while kernels run may register too.
template <typename Body>
auto with_registry(Body&& body) {
  return with_device([&](Device&) { return body(Registry::instance()); });
}

Unit& unit_of(void** handle) { return *reinterpret_cast<Unit*>(handle); }

}  // namespace

// NOLINTBEGIN(bugprone-reserved-identifier): the names are part of the ABI.
extern "C" {

void** __cudaRegisterFatBinary(void* fatbinary_wrapper) {
  return with_registry([&](Registry& registry) {
    return reinterpret_cast<void**>(&registry.add_unit(fatbinary_wrapper));
  });
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  if (handle == nullptr) return;
  with_registry([&](Registry& registry) { registry.remove_unit(unit_of(handle)); });
}

void __cudaRegisterFunction(void** handle, const char* host_function, char*,
                            const char* device_name, int, uint3*, uint3*, dim3*, dim3*, int*) {
  with_registry([&](Registry& registry) {
    registry.add_kernel(unit_of(handle), host_function, device_name);
  });
}

void __cudaRegisterVar(void** handle, char* host_variable, char*, const char* device_name,
                       int external, size_t bytes, int constant, int global) {
  with_registry([&](Registry& registry) {
    registry.add_symbol(unit_of(handle),
                        {host_variable, device_name, bytes, external, constant, global, false});
  });
}

void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char* device_name,
                              int external, size_t bytes, int constant, int global) {
  with_registry([&](Registry& registry) {
    registry.add_symbol(unit_of(handle),
                        {host_pointer, device_name, bytes, external, constant, global, true});
  });
}

// Called before host code accesses a __managed__ variable.  The result 0 means: call again before
// the next access, which may be in another trial.
char __cudaInitModule(void** handle) {
  static_cast<void>(warpcheck::cudart::answer_even_after_a_fault([&](Device& device) {
    unit_of(handle).place_managed(device.trial(), device.allocations());
    return cudaSuccess;
  }));
  return 0;
}

void warpcheck_register_unoptimized(const char* text, std::size_t bytes) {
  with_registry([&](Registry& registry) { registry.add_unoptimized({text, bytes}); });
}

void warpcheck_register_source(const char* unoptimized_text, const char* path, const char* root,
                               const char* options, const char* includes) {
  with_registry([&](Registry& registry) {
    registry.add_source(unoptimized_text, {path, root, options, includes});
  });
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
