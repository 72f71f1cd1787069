// Runs a kernel on the machine, with the settings of the trial, the device's limits and the host's
// state, and reports the outcome.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "vgpu/cudart/against/device_comparison.hpp"
#include "vgpu/cudart/code/device_code.hpp"
#include "vgpu/cudart/device/device_state.hpp"
#include "vgpu/cudart/graphs/conditionals.hpp"
#include "vgpu/cudart/launch/device_grids.hpp"
#include "vgpu/cudart/launch/launch_sampler.hpp"
#include "vgpu/cudart/parallel/parallel_machines.hpp"
#include "vgpu/cudart/streams/execution.hpp"
#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/cudart/streams/work.hpp"
#include "vgpu/cudart/suspended/kernel_turns.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/machine/texture/texture.hpp"

namespace warpcheck::cudart {

class Arrivals;
class VirtualClock;
class HostAccesses;
class HostBlocks;
class LaunchProgress;
class Observers;
class Transfers;
class Trial;

class KernelRunner {
 public:
  // Nothing is owned.
  struct Dependencies {
    vgpu::DeviceMemory& memory;
    const vgpu::TextureTable& textures;
    const Observers& observers;
    Trial& trial;
    DeviceStates& devices;
    Findings& findings;
    const Conditionals& conditionals;
    HostBlocks& host_blocks;
    Transfers& transfers;
    Arrivals& arrivals;
    VirtualClock& clock;
    HostAccesses& host_accesses;
    LaunchProgress& progress;
  };
  explicit KernelRunner(const Dependencies& dependencies)
      : dependencies_(dependencies),
        turns_(dependencies.memory),
        machines_(dependencies.memory),
        comparison_({dependencies.memory, dependencies.trial, dependencies.findings}),
        sampler_(dependencies.trial, dependencies.findings) {}

  // The machines of launches that run on several threads; must be informed of frees.
  [[nodiscard]] ParallelMachines& machines() { return machines_; }
  [[nodiscard]] ParallelMachines::Settings parallel_settings() const;
  // Returns whether observers besides the checkers must see every launch.
  [[nodiscard]] bool is_watched() const;
  // Returns the launch of an operation, a KernelWork.  Its parameters are those of the operation.
  [[nodiscard]] vgpu::Launch launch_for(const Operation& operation, const HostState& host) const;

  // Runs a kernel and all grids that its device code launches.  Throws vgpu::Refusal if a kernel
  // reaches an unsupported operation.
  void run(const KernelWork& work, const Operation& operation, const HostState& host);
  // Runs one of several kernels of the operation.  Returns its number among all launches.
  //   also_unordered: earlier launches of the operation that are not ordered before it
  std::uint32_t run(const KernelWork& work, const Operation& operation, const HostState& host,
                    const std::vector<std::uint32_t>& also_unordered);

  // A signal has reached a kernel that is in progress: these operations come before what it does
  // from now on.
  void signalled(const Operation& kernel, const OperationSet& by);

 private:
  struct HostLaunch;

  [[nodiscard]] bool host_may_write(const HostState& host) const;
  [[nodiscard]] vgpu::Launch launch_of(const HostLaunch& host_launch, const Grid& grid,
                                       DeviceState& device) const;
  Trial::LaunchNumber begin(const HostLaunch& host_launch, const Grid& grid);
  std::uint32_t run_grid(HostLaunch& host_launch, const Grid& grid,
                         const std::vector<std::uint32_t>& before, std::vector<std::uint32_t>& all);
  void run_children(HostLaunch& host_launch, const std::vector<ChildGrid>& children,
                    const std::vector<std::uint32_t>& before_parent,
                    std::vector<std::uint32_t>& all);
  vgpu::Outcome run_launch(vgpu::Launch& launch, const HostLaunch& host_launch,
                           const KernelTurns::Turn& turn);
  void notify_of_resumption(const vgpu::Launch& launch) const;
  void notify_of_known(KernelTurns::Turn& turn, bool others_have_run) const;
  void begin_beside(const KernelTurns::Turn& turn, std::vector<std::uint32_t>& unordered) const;
  [[nodiscard]] static bool is_alone(const HostLaunch& host_launch);
  std::optional<vgpu::Outcome> run_in_parallel(const vgpu::Launch& launch,
                                               const HostLaunch& host_launch);
  void notify_machines(vgpu::Sync sync) const;
  DeviceCode& copies_of(const DeviceState& device);

  Dependencies dependencies_;
  std::uint32_t last_launched_ = 0;                         // DeviceAnswer::launched
  std::map<unsigned, std::unique_ptr<DeviceCode>> copies_;  // by device
  KernelTurns turns_;
  ParallelMachines machines_;
  DeviceComparison comparison_;
  LaunchSampler sampler_;
};

}  // namespace warpcheck::cudart
