// A kernel's turn: the machine runs it, with what the trial, the device's limits and the host say,
// and what came of it is told.
#pragma once

#include "vgpu/cudart/device/device_state.hpp"
#include "vgpu/cudart/streams/execution.hpp"
#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/cudart/streams/work.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/machine/texture/texture.hpp"

namespace warpcheck::cudart {

class Arrivals;
class Clock;
class HostAccesses;
class HostBlocks;
class Observers;
class Transfers;
class Trial;

class KernelRunner {
 public:
  // Nothing is owned.
  struct Needs {
    vgpu::DeviceMemory& memory;
    const vgpu::TextureTable& textures;
    const Observers& observers;
    Trial& trial;
    DeviceStates& devices;
    HostBlocks& host_blocks;
    Transfers& transfers;
    Arrivals& arrivals;
    Clock& clock;
    HostAccesses& host_accesses;
  };
  explicit KernelRunner(const Needs& needs) : needs_(needs), machine_(needs.memory) {}

  // Throws vgpu::Refusal where the kernel has reached what cannot be run.
  void run(const KernelWork& work, const Operation& operation, const HostState& host);

 private:
  [[nodiscard]] bool host_may_write(const HostState& host) const;

  Needs needs_;
  vgpu::Machine machine_;
};

}  // namespace warpcheck::cudart
