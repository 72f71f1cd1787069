#include "vgpu/cudart/driver/launch_arguments.hpp"

#include <stdexcept>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/code/registry.hpp"

namespace warpcheck::cudart {

cudaError_t LaunchArguments::read() {
  if (extra_ == nullptr) return cudaSuccess;
  std::byte* block = nullptr;
  const std::size_t* bytes = nullptr;
  for (void** at = extra_; *at != CU_LAUNCH_PARAM_END; at += 2) {
    if (*at == CU_LAUNCH_PARAM_BUFFER_POINTER) {
      block = static_cast<std::byte*>(at[1]);
    } else if (*at == CU_LAUNCH_PARAM_BUFFER_SIZE) {
      bytes = static_cast<const std::size_t*>(at[1]);
    } else {
      return fail(cudaErrorInvalidValue);
    }
  }
  if (block == nullptr && bytes == nullptr) return cudaSuccess;
  if (block == nullptr || bytes == nullptr || parameters_ != nullptr) {
    return fail(cudaErrorInvalidValue);
  }
  std::size_t offset = 0, size = 0;
  for (std::size_t i = 0; find_parameter(i, offset, size); ++i) {
    if (offset + size > *bytes) return fail(cudaErrorInvalidValue);
    addresses_.push_back(block + offset);
  }
  parameters_ = addresses_.data();
  return cudaSuccess;
}

bool LaunchArguments::find_parameter(std::size_t index, std::size_t& offset,
                                     std::size_t& size) const {
  return with_device([&](Device& device) {
    const Kernel* const kernel = Registry::instance().find_kernel(function_);
    if (kernel == nullptr) return false;
    try {
      DeviceCode& code = kernel->unit->code(device.trial(), device.allocations(), kernel->name);
      const auto& parameters = code.link(kernel->name).program.parameters;
      if (index >= parameters.size()) return false;
      offset = parameters[index].offset;
      size = parameters[index].bytes;
      return true;
    } catch (const std::runtime_error&) {
      return false;  // the launch reports it
    }
  });
}

}  // namespace warpcheck::cudart
