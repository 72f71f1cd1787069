#include "vgpu/real/driver.hpp"

#include <dlfcn.h>

#include <array>
#include <cstdint>

namespace warpcheck::real {

DriverError::DriverError(const char* call, CUresult result, const std::string& more)
    : std::runtime_error(fmt::format("{} failed with {}{}{}", call, static_cast<int>(result),
                                     more.empty() ? "" : ": ", more)),
      result_(result) {}

Driver::Driver() : library_(dlopen("libcuda.so.1", RTLD_NOW)) {
  if (library_ == nullptr) throw std::runtime_error("there is no CUDA driver: libcuda.so.1");
  call("cuInit", 0u);
  call("cuDeviceGet", &device_, 0);
  call("cuDevicePrimaryCtxRetain", &context_, device_);
  call("cuCtxSetCurrent", context_);
}

void* Driver::symbol(const char* name) const {
  void* const found = dlsym(library_, name);
  if (found == nullptr) throw std::runtime_error(fmt::format("the driver lacks {}", name));
  return found;
}

CUmodule Driver::load(const std::string& ptx, unsigned optimization) {
  std::array<char, 8192> log{};
  const auto as_value = [](std::uintptr_t value) { return reinterpret_cast<void*>(value); };
  std::array<CUjit_option, 3> options = {
      CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_OPTIMIZATION_LEVEL};
  std::array<void*, 3> values = {log.data(), as_value(log.size()), as_value(optimization)};
  CUmodule module = nullptr;
  try {
    call("cuModuleLoadDataEx", &module, static_cast<const void*>(ptx.c_str()), 3u, options.data(),
         values.data());
  } catch (const DriverError& error) {
    throw DriverError("cuModuleLoadDataEx", error.result(), log.data());
  }
  return module;
}

int Driver::attribute(CUdevice_attribute which) {
  int value = 0;
  call("cuDeviceGetAttribute", &value, which, device_);
  return value;
}

int Driver::target() {
  return 10 * attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) +
         attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
}

std::string Driver::description() {
  std::array<char, 100> name{};
  int version = 0;
  call("cuDeviceGetName", name.data(), static_cast<int>(name.size()), device_);
  call("cuDriverGetVersion", &version);
  return fmt::format("{}, sm_{}, driver for CUDA {}.{}", name.data(), target(), version / 1000,
                     version % 1000 / 10);
}

// After a device fault the driver can free nothing, and nothing needs to be freed.
DeviceBuffer::~DeviceBuffer() {
  try {
    driver_.call("cuMemFree_v2", address_);
  } catch (const std::runtime_error&) {
  }
}

}  // namespace warpcheck::real
