// The state that each of several devices has separately.  All other state belongs to the system
// (system.hpp).
#pragma once

#include <cstdint>
#include <deque>

#include "vgpu/cudart/device/device_limits.hpp"
#include "vgpu/cudart/device/errors.hpp"
#include "vgpu/cudart/memory/allocations.hpp"

namespace warpcheck::cudart {

struct DeviceState {
  // Nothing is owned.
  struct Shared {
    vgpu::DeviceMemory& memory;
    const Observers& observers;
    Findings& findings;
    const CallRecording& recording;
    SharedAllocations& of_all;
    Trial& trial;
    LastErrors& last_errors;
    PrintBuffer& prints;
  };
  DeviceState(const Shared& shared, unsigned number_of_device)
      : number(number_of_device),
        allocations(shared.memory, shared.observers, shared.findings, shared.recording,
                    shared.of_all, number_of_device),
        errors(shared.trial, shared.findings, allocations, shared.last_errors),
        limits(shared.memory, shared.prints, number_of_device) {}

  const unsigned number;
  Allocations allocations;
  Errors errors;
  DeviceLimits limits;
  std::uint32_t peers = 0;  // one bit for each device whose memory it may use
  unsigned flags = 0;       // cudaSetDeviceFlags
};

// The states of all devices, by device number; device 0 always exists.
using DeviceStates = std::deque<DeviceState>;

}  // namespace warpcheck::cudart
