// Kernel launches: <<<>>> (crt/host_runtime.h), cudaLaunchKernel and similar functions.
//
// Invalid launches return the errors of CUDA 13.0 with driver 580, found by experiment:
// cudaErrorInvalidValue for every invalid grid, block or amount of shared memory (older runtimes
// return cudaErrorInvalidConfiguration for some), cudaErrorInvalidResourceHandle for an invalid
// function or stream.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "vgpu/cudart/api/api.hpp"
#include "vgpu/cudart/api/calls/call_log.hpp"
#include "vgpu/cudart/api/calls/call_place.hpp"
#include "vgpu/cudart/api/launches.hpp"
#include "vgpu/cudart/code/device_code.hpp"
#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/launch/clusters.hpp"
#include "vgpu/cudart/launch/kernel_limits.hpp"
#include "vgpu/cudart/memory/access_policy.hpp"
#include "vgpu/machine/memory/thread_object.hpp"
#include "vgpu/program/dim3_text.hpp"

namespace warpcheck::cudart {
namespace {

struct PendingLaunch {
  ExecutionConfiguration configuration;
  cudaStream_t stream = nullptr;
  const void* return_address = nullptr;  // in the code of the `<<<>>>`
};

// Holds a configuration between the `<<<>>>` of an expression and the stub that it calls.
std::vector<PendingLaunch>& pending_launches() {
  thread_local vgpu::ThreadObject<std::vector<PendingLaunch>> pending;
  return pending.value;
}

// The return address of the `<<<>>>` whose stub has taken the configuration and will launch; null:
// none.
const void*& launch_address() {
  thread_local const void* address = nullptr;
  return address;
}

// Returns the parameter block of a kernel for the addresses of its arguments.
std::vector<std::byte> gather(const vgpu::Program& program, void** arguments) {
  std::vector<std::byte> block(program.parameter_bytes);
  for (std::size_t i = 0; i < program.parameters.size(); ++i) {
    const vgpu::Parameter& parameter = program.parameters[i];
    std::memcpy(block.data() + parameter.offset, arguments[i], parameter.bytes);
  }
  return block;
}

void record_launch(Device& device, Kernel& kernel, const ExecutionConfiguration& configuration,
                   void** arguments) {
  Allocations& memory = device.allocations();
  const vgpu::Program& program =
      kernel.unit->code(device.trial(), memory, kernel.name).load(kernel.name, memory).program;
  if (configuration.cluster.count() > 1 && configuration.cluster != program.cluster) {
    throw vgpu::Refusal(fmt::format(
        "{}: a launch that asks for clusters cannot be exported; give the kernel __cluster_dims__",
        kernel.name));
  }
  LaunchCall call{.kernel = kernel.name,
                  .source = Registry::instance().source_of(*kernel.unit),
                  .grid = to_dim3(configuration.grid),
                  .block = to_dim3(configuration.block),
                  .dynamic_shared_bytes = configuration.dynamic_shared_bytes,
                  .arguments = {}};
  for (std::size_t i = 0; arguments != nullptr && i < program.parameters.size(); ++i) {
    const auto* const bytes = static_cast<const std::byte*>(arguments[i]);
    call.arguments.push_back(
        device.recording().log()->host_bytes({bytes, program.parameters[i].bytes}));
  }
  device.recording().log()->launch(std::move(call));
}

}  // namespace

const vgpu::Program& program_of(const KernelWork& work) { return work.linked->program; }

cudaError_t prepare(Device& device, const void* function,
                    const ExecutionConfiguration& configuration, void** arguments,
                    KernelWork& work) {
  if (function == nullptr) return cudaErrorInvalidDeviceFunction;
  Kernel* const kernel = Registry::instance().find_kernel(function);
  if (kernel == nullptr) return cudaErrorInvalidResourceHandle;
  if (device.recording().log() != nullptr) record_launch(device, *kernel, configuration, arguments);
  const Dim3 grid = to_dim3(configuration.grid), block = to_dim3(configuration.block);
  std::string broken = broken_device_limit(grid, block);
  if (!broken.empty()) return device.errors().because(cudaErrorInvalidValue, std::move(broken));
  Allocations& memory = device.allocations();
  LinkedKernel& linked =
      kernel->unit->code(device.trial(), memory, kernel->name).load(kernel->name, memory);
  const KernelAttributes& attributes = kernel->attributes_on(memory);
  const vgpu::Program& program = linked.program;
  broken = broken_kernel_limit(attributes, program, block, configuration.dynamic_shared_bytes);
  if (!broken.empty()) return device.errors().because(cudaErrorInvalidValue, std::move(broken));
  if (!program.parameters.empty() && arguments == nullptr) return cudaErrorInvalidValue;
  const virtual_gpu::Capability& capability = device.trial().capability();
  const cudaError_t misfit = cluster_of(capability, attributes, program, configuration.cluster,
                                        grid, work.cluster, work.explicit_cluster);
  if (misfit != cudaSuccess) {
    return device.errors().because(
        misfit, broken_cluster_limit(capability, attributes, program, work.cluster, grid));
  }
  if (grid.count() > UINT32_MAX) {
    throw vgpu::Refusal(fmt::format("{}: a grid of {} blocks; the virtual device runs at most {}",
                                    kernel->name, grid.count(), UINT32_MAX));
  }
  if (configuration.cooperative) {
    broken = broken_residence(capability, program, grid, block, configuration.dynamic_shared_bytes);
    if (!broken.empty()) {
      return device.errors().because(cudaErrorCooperativeLaunchTooLarge, std::move(broken));
    }
  }
  work.device = device.number();
  work.kernel = kernel;
  work.linked = &linked;
  work.grid = grid;
  work.block = block;
  work.dynamic_shared_bytes = static_cast<std::uint32_t>(configuration.dynamic_shared_bytes);
  work.cooperative = configuration.cooperative;
  work.may_begin_early = configuration.may_begin_early;
  work.parameters = gather(program, arguments);
  return cudaSuccess;
}

namespace {

cudaError_t try_launch(Device& device, std::string_view call, const void* function,
                       const ExecutionConfiguration& configuration, cudaStream_t handle,
                       void** arguments) {
  if (function == nullptr) return cudaErrorInvalidDeviceFunction;
  Stream* const stream = device.execution().find_stream(call, handle);
  // A launch needs a stream of the thread's device (Programming Guide, "Stream and Event
  // Behavior").
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  if (stream->device != device.number()) {
    return device.errors().because(
        cudaErrorInvalidResourceHandle,
        fmt::format("the stream is of device {}, and the current one is {}", stream->device,
                    device.number()));
  }
  KernelWork work;
  const cudaError_t error = prepare(device, function, configuration, arguments, work);
  if (error != cudaSuccess) return error;
  return device.execution().submit(*stream, std::move(work), false);
}

std::string show(const dim3& dim) {
  if (dim.y == 1 && dim.z == 1) return fmt::format("{}", dim.x);
  return triple(to_dim3(dim));
}

// Describes a launch as "saxpy<<<0, 256>>>(...)".
FailedCall describe_launch(std::string_view call, const void* function,
                           const ExecutionConfiguration& configuration, cudaStream_t stream,
                           const void* return_address) {
  FailedCall failed;
  const Kernel* const kernel =
      function == nullptr ? nullptr : Registry::instance().find_kernel(function);
  if (kernel != nullptr) failed.kernel = vgpu::kernel_name(kernel->name);
  if (return_address == nullptr) failed.text = fmt::format("{} of ", reported_name(call));
  failed.text += fmt::format("{}<<<{}, {}", kernel == nullptr ? "no kernel" : failed.kernel,
                             show(configuration.grid), show(configuration.block));
  if (configuration.dynamic_shared_bytes != 0 || stream != nullptr) {
    failed.text += fmt::format(", {}", configuration.dynamic_shared_bytes);
  }
  failed.text += stream != nullptr ? ", stream>>>(...)" : ">>>(...)";
  failed.return_address = return_address;
  const auto is_empty = [](const dim3& dim) { return dim.x == 0 || dim.y == 0 || dim.z == 0; };
  failed.needs_question =
      return_address != nullptr && !is_empty(configuration.grid) && !is_empty(configuration.block);
  return failed;
}

cudaError_t launch(Device& device, std::string_view call, const void* function,
                   const ExecutionConfiguration& configuration, cudaStream_t handle,
                   void** arguments) {
  const void* const address = std::exchange(launch_address(), nullptr);
  // The caller of this function is a stub that nvcc has made.
  if (address != nullptr && device.trial().in_ambient()) {
    ask_at_launch(address);
    device.findings().mishaps().perform(current_call().return_address);
  }
  const cudaError_t error = try_launch(device, call, function, configuration, handle, arguments);
  if (error != cudaSuccess) {
    device.errors().describe_call(describe_launch(call, function, configuration, handle, address));
  }
  return error;
}

bool has_valid_windows(const cudaLaunchConfig_t& config) {
  return std::all_of(config.attrs, config.attrs + config.numAttrs, [](const auto& attribute) {
    return number_of(attribute.id) != cudaLaunchAttributeAccessPolicyWindow ||
           is_window(attribute.val.accessPolicyWindow);
  });
}

// Returns whether the launch is cooperative.  Other attributes are read elsewhere, have no effect
// here, or are refused.
bool is_cooperative(const cudaLaunchConfig_t& config) {
  bool cooperative = false;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config.attrs[i];
    switch (number_of(attribute.id)) {
      case cudaLaunchAttributeIgnore:
      case cudaLaunchAttributePriority:
      case cudaLaunchAttributeAccessPolicyWindow:
      case cudaLaunchAttributeSynchronizationPolicy:
      case cudaLaunchAttributeMemSyncDomainMap:
      case cudaLaunchAttributeMemSyncDomain:
      case cudaLaunchAttributeProgrammaticStreamSerialization:
      case cudaLaunchAttributePreferredSharedMemoryCarveout: continue;
      case cudaLaunchAttributeCooperative: cooperative = attribute.val.cooperative != 0; continue;
      case cudaLaunchAttributeClusterDimension:  // asked_cluster()
      case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      case cudaLaunchAttributePreferredClusterDimension:        // regular dimensions may be used
      case cudaLaunchAttributeLaunchCompletionEvent: continue;  // record_begin()
      default:
        throw vgpu::Refusal(fmt::format("cudaLaunchKernelExC: launch attribute {} is not supported",
                                        number_of(attribute.id)));
    }
  }
  return cooperative;
}

// Records the event that signals the start of all blocks.  Nothing of the kernel comes before it,
// so it is recorded before the launch.
cudaError_t record_begin(const cudaLaunchConfig_t& config) {
  for (unsigned i = 0; config.attrs != nullptr && i < config.numAttrs; ++i) {
    if (number_of(config.attrs[i].id) != cudaLaunchAttributeLaunchCompletionEvent) continue;
    const auto& asked = config.attrs[i].val.launchCompletionEvent;
    const cudaError_t error =
        cudaEventRecordWithFlags(asked.event, config.stream, static_cast<unsigned>(asked.flags));
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

bool may_begin_early(const cudaLaunchConfig_t& config) {
  return std::any_of(config.attrs, config.attrs + config.numAttrs, [](const auto& attribute) {
    return number_of(attribute.id) == cudaLaunchAttributeProgrammaticStreamSerialization &&
           attribute.val.programmaticStreamSerializationAllowed != 0;
  });
}

}  // namespace
}  // namespace warpcheck::cudart

using namespace warpcheck::cudart;  // NOLINT(google-build-using-namespace)

// NOLINTBEGIN(bugprone-reserved-identifier): the names are part of the ABI.
extern "C" {

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t dynamic_shared_bytes,
                                     struct CUstream_st* stream) {
  pending_launches().push_back(
      {{grid, block, dynamic_shared_bytes}, stream, __builtin_return_address(0)});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* dynamic_shared_bytes,
                                       void* stream) {
  std::vector<PendingLaunch>& launches = pending_launches();
  if (launches.empty()) return cudaErrorMissingConfiguration;
  const auto [configuration, handle, return_address] = launches.back();
  launches.pop_back();
  *grid = configuration.grid;
  *block = configuration.block;
  *dynamic_shared_bytes = configuration.dynamic_shared_bytes;
  *static_cast<cudaStream_t*>(stream) = handle;
  launch_address() = return_address;
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* handle, const void* host_function) {
  return cudaGetKernel(handle, host_function);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t dynamic_shared_bytes, cudaStream_t stream) {
  return answer([&](Device& device) {
    return launch(device, "cudaLaunchKernel", kernel, {grid, block, dynamic_shared_bytes}, stream,
                  arguments);
  });
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t dynamic_shared_bytes, cudaStream_t stream) {
  return answer([&](Device& device) {
    return launch(device, "cudaLaunchKernel", function, {grid, block, dynamic_shared_bytes}, stream,
                  arguments);
  });
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block,
                                        void** arguments, size_t dynamic_shared_bytes,
                                        cudaStream_t stream) {
  return answer([&](Device& device) {
    return launch(device, "cudaLaunchCooperativeKernel", function,
                  {grid, block, dynamic_shared_bytes, true}, stream, arguments);
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function,
                                void** arguments) {
  const cudaError_t recorded = config == nullptr ? cudaSuccess : record_begin(*config);
  if (recorded != cudaSuccess) return recorded;
  return answer([&](Device& device) {
    if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr)) {
      return cudaErrorInvalidValue;
    }
    if (!has_valid_windows(*config)) return cudaErrorInvalidValue;
    const ExecutionConfiguration configuration{config->gridDim,          config->blockDim,
                                               config->dynamicSmemBytes, is_cooperative(*config),
                                               asked_cluster(*config),   may_begin_early(*config)};
    return launch(device, "cudaLaunchKernelExC", function, configuration, config->stream,
                  arguments);
  });
}

cudaError_t cudaGetKernel(cudaKernel_t* handle, const void* host_function) {
  return answer_even_after_a_fault([&](Device&) {
    if (handle == nullptr) return cudaErrorInvalidValue;
    Kernel* const kernel = Registry::instance().find_kernel(host_function);
    *handle = reinterpret_cast<cudaKernel_t>(kernel);
    return kernel != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction;
  });
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier)
