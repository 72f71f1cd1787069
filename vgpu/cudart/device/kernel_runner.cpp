#include "vgpu/cudart/device/kernel_runner.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "vgpu/cudart/code/device_code.hpp"
#include "vgpu/cudart/device/clock.hpp"
#include "vgpu/cudart/device/observers.hpp"
#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/exec/arrivals.hpp"
#include "vgpu/cudart/host/host_accesses.hpp"
#include "vgpu/cudart/memory/host_blocks.hpp"
#include "vgpu/cudart/streams/idle_progress.hpp"
#include "vgpu/cudart/streams/transfers.hpp"

namespace warpcheck::cudart {
namespace {

cudaError_t error_of(vgpu::Trap::Cause cause) {
  switch (cause) {
    case vgpu::Trap::Cause::assertion: return cudaErrorAssert;
    case vgpu::Trap::Cause::bad_call: return cudaErrorInvalidPc;
    // What lies beyond a stack is no address of the thread (seen on sm_90).
    case vgpu::Trap::Cause::stack_overflow:
    case vgpu::Trap::Cause::no_object:
    case vgpu::Trap::Cause::surface_bounds: return cudaErrorIllegalAddress;
    case vgpu::Trap::Cause::surface_alignment: return cudaErrorMisalignedAddress;
    case vgpu::Trap::Cause::trap:
    case vgpu::Trap::Cause::breakpoint:
    case vgpu::Trap::Cause::bad_index: break;
  }
  return cudaErrorLaunchFailure;
}

// What CUDA answers once a launch has ended so; cudaSuccess: the device goes on.
cudaError_t error_of(const vgpu::Outcome& outcome) {
  switch (outcome.end) {
    case vgpu::Outcome::End::trap: return error_of(outcome.cause);
    case vgpu::Outcome::End::step_limit:
    case vgpu::Outcome::End::deadlock: return cudaErrorLaunchTimeout;
    case vgpu::Outcome::End::completed:
    case vgpu::Outcome::End::refused: break;
  }
  return cudaSuccess;
}

}  // namespace

bool KernelRunner::host_may_write(const HostState& host) const {
  return needs_.trial.in_ambient() && needs_.memory.has_mapped() &&
         (!host.waits || other_threads_may_run());
}

void KernelRunner::run(const KernelWork& work, const Operation& operation, const HostState& host) {
  const vgpu::Program& program = work.linked->program;
  DeviceState& device = needs_.devices[work.device];
  const Trial::LaunchNumber number = needs_.trial.launch(program, work.linked->ptx_hash);
  needs_.arrivals.launched(number.kernel);
  const std::vector<std::uint32_t> unordered = needs_.transfers.unordered_launches(operation);
  vgpu::Launch launch;
  launch.program = &program;
  launch.index = number.launch;
  launch.grid = work.grid;
  launch.block = work.block;
  launch.cluster = work.cluster;
  launch.explicit_cluster = work.explicit_cluster;
  launch.dynamic_shared_bytes = work.dynamic_shared_bytes;
  launch.parameters = work.parameters;
  launch.cooperative = work.cooperative;
  launch.unordered_launches = unordered;
  launch.textures = &needs_.textures;
  launch.host_runs = host_may_write(host);
  launch.device = device.number;
  launch.devices = static_cast<unsigned>(needs_.devices.size());
  launch.peers = device.peers;
  launch.stack_bytes = static_cast<std::uint32_t>(
      std::min<std::size_t>(device.limits.get(cudaLimitStackSize), UINT32_MAX));
  if (program.uses_heap) device.limits.use_heap();

  const TrialSettings& settings = needs_.trial.settings();
  if (!host.is_gone) needs_.host_blocks.copy_registered_to_device();
  needs_.host_accesses.launch_begins(number.launch);
  const vgpu::Outcome outcome =
      machine_.run(launch, settings.warp_model, needs_.trial.strategy(), needs_.observers.list(),
                   settings.limits, settings.want_feedback);
  if (!host.is_gone) needs_.host_blocks.copy_registered_to_host();

  needs_.trial.count(outcome);
  needs_.clock.spend_launch(outcome.steps);
  if (outcome.end == vgpu::Outcome::End::refused) throw vgpu::Refusal(outcome.refusal);
  if (const cudaError_t error = error_of(outcome); error != cudaSuccess) {
    device.errors.set_sticky(error);
  }
  needs_.host_accesses.launch_ended(number.launch, operation);
  needs_.transfers.launched(number.launch, operation, &needs_.host_accesses.signals());
}

}  // namespace warpcheck::cudart
