#include "vgpu/cudart/real/real_runtime.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "vgpu/cudart/api/entry_points.hpp"
#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/cudart/device/device.hpp"

namespace warpcheck::cudart {
namespace {

constexpr std::array kLibraries{"libcudart.so.13", "/usr/local/cuda/lib64/libcudart.so.13",
                                "/usr/local/cuda/lib/libcudart.so.13"};

// The functions of one library that are called by name here; all others are reached through the
// entry points.
struct Functions {
  decltype(&cudaGetErrorName) error_name = nullptr;
  decltype(&cudaGetErrorString) error_string = nullptr;
  decltype(&cudaGetDeviceCount) device_count = nullptr;
  decltype(&cudaGetDeviceProperties) device_properties = nullptr;
  decltype(&cudaRuntimeGetVersion) runtime_version = nullptr;
  decltype(&cudaDriverGetVersion) driver_version = nullptr;
  decltype(&cudaLaunchKernel) launch_kernel = nullptr;
  decltype(&cudaLaunchKernelExC) launch_kernel_ex = nullptr;
  // crt/host_runtime.h
  void** (*register_binary)(void*) = nullptr;
  void (*register_binary_end)(void**) = nullptr;
  void (*register_function)(void**, const char*, char*, const char*, int, uint3*, uint3*, dim3*,
                            dim3*, int*) = nullptr;
  void (*register_variable)(void**, char*, char*, const char*, int, std::size_t, int,
                            int) = nullptr;
  void (*register_managed)(void**, void**, char*, const char*, int, std::size_t, int,
                           int) = nullptr;
  char (*init_module)(void**) = nullptr;
};

struct State {
  bool active = false;
  // by library: its handles for the units
  std::map<void*, std::map<const Unit*, void**>> registered;
  void* library = nullptr;
  Functions real;
  RealLaunches launches;
};

State& state() {
  static auto* const only = new State;  // never destroyed: programs call it in destructors
  return *only;
}

// --- opening ------------------------------------------------------------------------------------

void* open_library(const std::string& wanted) {
  std::string reason;
  const auto open = [&](const char* name) {
    void* const library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr && reason.empty()) reason = ::dlerror();
    return library;
  };
  if (!wanted.empty()) {
    if (void* const library = open(wanted.c_str())) return library;
  } else {
    for (const char* name : kLibraries) {
      if (void* const library = open(name)) return library;
    }
  }
  throw RealRuntimeError(fmt::format("the CUDA runtime library cannot be opened: {}", reason));
}

template <typename Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  if (function == nullptr) {
    throw RealRuntimeError(
        fmt::format("the library that was opened is no CUDA runtime: it has no {}", name));
  }
}

Functions functions_of(void* library) {
  Functions real;
  find(library, "cudaGetErrorName", real.error_name);
  find(library, "cudaGetErrorString", real.error_string);
  find(library, "cudaGetDeviceCount", real.device_count);
  find(library, "cudaGetDeviceProperties", real.device_properties);
  find(library, "cudaRuntimeGetVersion", real.runtime_version);
  find(library, "cudaDriverGetVersion", real.driver_version);
  find(library, "cudaLaunchKernel", real.launch_kernel);
  find(library, "cudaLaunchKernelExC", real.launch_kernel_ex);
  find(library, "__cudaRegisterFatBinary", real.register_binary);
  find(library, "__cudaRegisterFatBinaryEnd", real.register_binary_end);
  find(library, "__cudaRegisterFunction", real.register_function);
  find(library, "__cudaRegisterVar", real.register_variable);
  find(library, "__cudaRegisterManagedVar", real.register_managed);
  find(library, "__cudaInitModule", real.init_module);
  return real;
}

RealDevice describe_device(const Functions& real) {
  const auto require = [&](cudaError_t error, std::string_view call) {
    if (error == cudaSuccess) return;
    throw RealRuntimeError(fmt::format("no CUDA device can be used: {}: {} ({})", call,
                                       real.error_name(error), real.error_string(error)));
  };
  int count = 0;
  require(real.device_count(&count), "cudaGetDeviceCount");
  if (count == 0) throw RealRuntimeError("no CUDA device can be used: there is none");
  cudaDeviceProp properties{};
  require(real.device_properties(&properties, 0), "cudaGetDeviceProperties");
  RealDevice device;
  device.name = properties.name;
  Dl_info info{};
  if (::dladdr(reinterpret_cast<void*>(real.device_count), &info) != 0) {
    device.library = info.dli_fname;
  }
  require(real.runtime_version(&device.runtime_version), "cudaRuntimeGetVersion");
  require(real.driver_version(&device.driver_version), "cudaDriverGetVersion");
  return device;
}

// --- registration -------------------------------------------------------------------------------

std::map<const Unit*, void**> register_units(const Functions& real, const Registry& registry) {
  std::map<const Unit*, void**> handles;
  for (const std::unique_ptr<Unit>& unit : registry.units()) {
    if (unit->removed) continue;
    void** const handle = real.register_binary(const_cast<void*>(unit->wrapper()));
    handles[unit.get()] = handle;
    for (const Kernel* kernel : registry.kernels_of(*unit)) {
      char* const name = const_cast<char*>(kernel->name.c_str());
      real.register_function(handle, static_cast<const char*>(kernel->host_function), name, name,
                             -1, nullptr, nullptr, nullptr, nullptr, nullptr);
    }
    for (const Unit::Variable& variable : unit->variables) {
      char* const name = const_cast<char*>(variable.name.c_str());
      if (variable.managed) {
        real.register_managed(handle, static_cast<void**>(variable.host), name, name,
                              variable.external, variable.bytes, variable.constant,
                              variable.global);
      } else {
        real.register_variable(handle, static_cast<char*>(variable.host), name, name,
                               variable.external, variable.bytes, variable.constant,
                               variable.global);
      }
    }
    real.register_binary_end(handle);
  }
  return handles;
}

// --- calls that are not simply forwarded ---------------------------------------------------------

// Returns nothing if it is neither a registered host function nor one of our handles.
std::optional<Kernel> launched_kernel(const void* function) {
  return with_device([&](Device&) -> std::optional<Kernel> {
    const Kernel* const kernel = Registry::instance().find_kernel(function);
    if (kernel == nullptr) return std::nullopt;
    RealLaunches& seen = state().launches;
    ++seen.count;
    if (std::ranges::find(seen.kernels, kernel->name) == seen.kernels.end()) {
      seen.kernels.push_back(kernel->name);
    }
    return *kernel;
  });
}

cudaError_t launch(const void* function, dim3 grid, dim3 block, void** arguments,
                   std::size_t dynamic_shared_bytes, cudaStream_t stream) {
  const std::optional<Kernel> kernel = launched_kernel(function);
  return state().real.launch_kernel(kernel ? kernel->host_function : function, grid, block,
                                    arguments, dynamic_shared_bytes, stream);
}

cudaError_t launch_ex(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  const std::optional<Kernel> kernel = launched_kernel(function);
  return state().real.launch_kernel_ex(config, kernel ? kernel->host_function : function,
                                       arguments);
}

// Returns the stream argument for functions of per-thread default streams.
cudaStream_t per_thread(cudaStream_t stream) {
  return stream == nullptr ? cudaStreamPerThread : stream;
}

cudaError_t launch_per_thread(const void* function, dim3 grid, dim3 block, void** arguments,
                              std::size_t dynamic_shared_bytes, cudaStream_t stream) {
  return launch(function, grid, block, arguments, dynamic_shared_bytes, per_thread(stream));
}

cudaError_t launch_ex_per_thread(const cudaLaunchConfig_t* config, const void* function,
                                 void** arguments) {
  if (config == nullptr) return launch_ex(config, function, arguments);
  cudaLaunchConfig_t own = *config;
  own.stream = per_thread(own.stream);
  return launch_ex(&own, function, arguments);
}

cudaError_t launch_cooperative(const void* function, dim3 grid, dim3 block, void** arguments,
                               std::size_t dynamic_shared_bytes, cudaStream_t stream) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = dynamic_shared_bytes;
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return launch_ex(&config, function, arguments);
}

cudaError_t launch_cooperative_per_thread(const void* function, dim3 grid, dim3 block,
                                          void** arguments, std::size_t dynamic_shared_bytes,
                                          cudaStream_t stream) {
  return launch_cooperative(function, grid, block, arguments, dynamic_shared_bytes,
                            per_thread(stream));
}

char init_module(void** handle) {
  const auto& handles = state().registered[state().library];
  const auto found = handles.find(reinterpret_cast<const Unit*>(handle));
  return found == handles.end() ? 0 : state().real.init_module(found->second);
}

cudaError_t not_in_this_library() { return cudaErrorSymbolNotFound; }

void* forwarded(const EntryPoint& entry) {
  const std::string_view name = entry.name;
  const auto pointer = [](auto* function) { return reinterpret_cast<void*>(function); };
  if (name == "cudaLaunchKernel" || name == "__cudaLaunchKernel") return pointer(&launch);
  if (name == "cudaLaunchKernelExC") return pointer(&launch_ex);
  if (name == "cudaLaunchKernel_ptsz" || name == "__cudaLaunchKernel_ptsz") {
    return pointer(&launch_per_thread);
  }
  if (name == "cudaLaunchKernelExC_ptsz") return pointer(&launch_ex_per_thread);
  if (name == "cudaLaunchCooperativeKernel") return pointer(&launch_cooperative);
  if (name == "cudaLaunchCooperativeKernel_ptsz") return pointer(&launch_cooperative_per_thread);
  if (name == "__cudaInitModule") return pointer(&init_module);
  if (name == "cudaGetKernel" || name == "__cudaGetKernel") return entry.virtual_function;
  void* const found = ::dlsym(state().library, entry.name);
  return found != nullptr ? found : pointer(&not_in_this_library);
}

}  // namespace

RealDevice use_real_runtime(const std::string& library) {
  void* const opened = open_library(library);
  const Functions real = functions_of(opened);
  RealDevice device = describe_device(real);
  State& now = state();
  if (!now.registered.contains(opened)) {
    with_device(
        [&](Device&) { now.registered[opened] = register_units(real, Registry::instance()); });
  }
  now.library = opened;
  now.real = real;
  now.launches = {};
  for (const EntryPoint& entry : entry_points()) *entry.slot = forwarded(entry);
  now.active = true;
  return device;
}

void use_virtual_device() {
  for (const EntryPoint& entry : entry_points()) *entry.slot = entry.virtual_function;
  state().active = false;
}

bool uses_real_runtime() { return state().active; }

RealLaunches take_real_launches() { return std::exchange(state().launches, {}); }

}  // namespace warpcheck::cudart
