#include "vgpu/cudart/driver/modules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/code/module_image.hpp"
#include "vgpu/cudart/device/device.hpp"
#include "vgpu/cudart/device/enum_number.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::cudart {

void JitOptions::Log::write(std::string_view text) const {
  std::size_t written = 0;
  if (buffer != nullptr && bytes != 0) {
    written = std::min(text.size(), bytes - 1);
    std::memcpy(buffer, text.data(), written);
    buffer[written] = '\0';
  }
  if (length != nullptr) *length = reinterpret_cast<void*>(written);
}

bool JitOptions::read(unsigned count, CUjit_option* options, void** values) {
  if (count != 0 && (options == nullptr || values == nullptr)) return false;
  for (unsigned i = 0; i < count; ++i) {
    switch (number_of(options[i])) {
      case CU_JIT_INFO_LOG_BUFFER: info_.buffer = static_cast<char*>(values[i]); break;
      case CU_JIT_ERROR_LOG_BUFFER: error_.buffer = static_cast<char*>(values[i]); break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
        info_.bytes = reinterpret_cast<std::uintptr_t>(values[i]) & UINT32_MAX;
        info_.length = &values[i];
        break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
        error_.bytes = reinterpret_cast<std::uintptr_t>(values[i]) & UINT32_MAX;
        error_.length = &values[i];
        break;
      case CU_JIT_WALL_TIME:  // the value itself holds a float
        values[i] = nullptr;
        break;
      case CU_JIT_MAX_REGISTERS:
      case CU_JIT_THREADS_PER_BLOCK:
      case CU_JIT_OPTIMIZATION_LEVEL:
      case CU_JIT_TARGET_FROM_CUCONTEXT:
      case CU_JIT_TARGET:
      case CU_JIT_FALLBACK_STRATEGY:
      case CU_JIT_GENERATE_DEBUG_INFO:
      case CU_JIT_LOG_VERBOSE:
      case CU_JIT_GENERATE_LINE_INFO:
      case CU_JIT_CACHE_MODE:
      case CU_JIT_FAST_COMPILE:
      case CU_JIT_POSITION_INDEPENDENT_CODE:
      case CU_JIT_MIN_CTA_PER_SM:
      case CU_JIT_MAX_THREADS_PER_BLOCK:
      case CU_JIT_OVERRIDE_DIRECTIVE_VALUES:
      case CU_JIT_SPLIT_COMPILE:
      case CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES: break;
      default:
        if (number_of(options[i]) >= number_of(CU_JIT_NUM_OPTIONS)) return false;
        throw vgpu::Refusal(
            fmt::format("option {} of the just-in-time compiler (CUjit_option) is not supported",
                        number_of(options[i])));
    }
  }
  return true;
}

void JitOptions::write_logs(std::string_view info, std::string_view error) {
  info_.write(info);
  error_.write(error);
}

cudaError_t load_module(Device& device, const void* image, JitOptions& options,
                        LoadedModule** module) {
  if (image == nullptr || module == nullptr) return cudaErrorInvalidValue;
  try {
    *module = &LoadedModules::instance().load(device.trial(), device.allocations(),
                                              ptx_of_module(image, code_target(device.trial())));
    options.write_logs("", "");
    return cudaSuccess;
  } catch (const ModuleImageError& error) {
    options.write_logs("", error.what());
    if (*error.what() != '\0') device.errors().refuse(error.what());
    return error.error;
  } catch (const ptx::ParseError& error) {
    options.write_logs("", error.what());
    throw;
  } catch (const vgpu::Refusal& refusal) {
    options.write_logs("", refusal.what());
    throw;
  }
}

cudaError_t find_variable(Device& device, const LoadedModule& module, const char* name,
                          bool managed, void** address, std::size_t* bytes) {
  if (name == nullptr) return cudaErrorInvalidValue;
  Allocations& allocations = device.allocations();
  DeviceCode& code = module.unit->code(device.trial(), allocations, name);
  const vgpu::Allocation* const place = code.variable(name, allocations);
  if (place == nullptr || (managed && !place->managed)) return cudaErrorSymbolNotFound;
  if (address != nullptr) *address = reinterpret_cast<void*>(place->address);
  if (bytes != nullptr) *bytes = place->bytes;
  return cudaSuccess;
}

cudaError_t unload(Device& device, LoadedModule& module) {
  device.execution().wait_for_all();
  LoadedModules::instance().unload(device.trial(), device.allocations(), module);
  return device.errors().sticky();
}

cudaError_t count_functions(const LoadedModule& module, unsigned* count) {
  return write_result(count, static_cast<unsigned>(module.kernels.size()));
}

}  // namespace warpcheck::cudart
