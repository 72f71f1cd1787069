// The virtual devices of a process behind the runtime API, and what they share: one address space,
// one order of operations, one set of checkers for all of it, one trial.  The separate state of a
// device is a DeviceState; a Device combines both and answers calls (device.hpp).
//
// Each component gets references to what it uses; none depends on the system.  Calls request
// operations of streams (execution.hpp).  These run when the host waits for them, when too many are
// pending, or when the trial ends, so the host is always as far ahead of the devices as its calls
// allow (but see idle_progress.hpp).  Nothing here depends on host addresses, and in a trial
// nothing depends on time.  In a plain program, time decides when operations run that no call waits
// for, and after how long a value that a kernel polls counts as never written (execution.cpp).
#pragma once

#include <mutex>

#include "vgpu/cudart/api/calls/call_log.hpp"
#include "vgpu/cudart/copies/copy_runner.hpp"
#include "vgpu/cudart/copies/copy_sides.hpp"
#include "vgpu/cudart/copies/transfers.hpp"
#include "vgpu/cudart/device/device_state.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/last_errors.hpp"
#include "vgpu/cudart/device/observers.hpp"
#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/device/virtual_clock.hpp"
#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/device/visible_devices.hpp"
#include "vgpu/cudart/exec/arrivals.hpp"
#include "vgpu/cudart/exec/launch_progress.hpp"
#include "vgpu/cudart/graphs/graphs.hpp"
#include "vgpu/cudart/host_watch/host_accesses.hpp"
#include "vgpu/cudart/launch/kernel_runner.hpp"
#include "vgpu/cudart/launch/print_buffer.hpp"
#include "vgpu/cudart/launch/run_ahead.hpp"
#include "vgpu/cudart/launch/work_runner.hpp"
#include "vgpu/cudart/libraries/library_runner.hpp"
#include "vgpu/cudart/memory/allocations.hpp"
#include "vgpu/cudart/memory/arrays.hpp"
#include "vgpu/cudart/memory/host_blocks.hpp"
#include "vgpu/cudart/memory/managed_advice.hpp"
#include "vgpu/cudart/memory/pools.hpp"
#include "vgpu/cudart/memory/process_memory.hpp"
#include "vgpu/cudart/memory/virtual_memory.hpp"
#include "vgpu/cudart/streams/execution.hpp"
#include "vgpu/cudart/streams/idle_progress.hpp"
#include "vgpu/cudart/streams/stream_values.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

class Device;

class System {
 public:
  System() = default;
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  // Held during every call (with_device()).
  std::mutex& mutex() { return mutex_; }
  // Must be called in a child of fork(): a thread of the parent that was in a call does not exist
  // here, so it holds no lock.
  void leave_calls_to_parent();

  [[nodiscard]] unsigned count() const { return static_cast<unsigned>(devices_.size()); }
  // number: less than count()
  Device device(unsigned number);
  // The devices that a plain program sees.  In a trial there are no numbers: it sees all.
  [[nodiscard]] const VisibleDevices& visible() const { return visible_; }
  // Returns the current device of the calling thread.
  Device current();

  // Begins a trial, with the number of devices in the settings.
  void begin_trial(const TrialSettings& settings);
  TrialResult end_trial();
  // Begins a call for a device.  Outside a trial, the first call starts a new ambient trial with
  // default settings.
  void enter_call(DeviceState& device);
  // Add an observer of all launches from now on, and remove it.  Not owned.
  void watch(vgpu::Observer& observer);
  void unwatch(vgpu::Observer& observer);
  // The process ends outside a trial. finish() runs the remaining operations; end_ambient() lets
  // checkers report what they do at the end, and leaks if requested.
  void finish() { execution_.run_what_is_left(); }
  TrialResult end_ambient(bool report_leaks);
  // Memory is about to be freed with its device or its context: the program has not freed it, which
  // is reported if requested.
  void report_leaks(const Allocations::IsMeant& is_meant) const;
  // Returns the findings and refusals so far.  A process that was forked after the first use of the
  // device leaves what was launched and found before to its parent.
  [[nodiscard]] TrialResult peek_result() const;
  // How many findings are left to the parent; the others have the following numbers.
  [[nodiscard]] std::size_t findings_of_parent() const;
  // cudaDeviceReset: everything allocated or created on the device is released; the trial
  // continues.
  void reset(DeviceState& device);
  // Outputs what device code has printed.
  void flush_prints() { trial_.bring_out(prints_); }

  // Launches of the running trial run some of their blocks (sampled_launches.hpp); none: all.
  void sample(std::optional<std::vector<std::uint32_t>> blocks, std::uint64_t memory_bytes);

  Trial& trial() { return trial_; }
  Findings& findings() { return findings_; }
  HostBlocks& host_blocks() { return host_blocks_; }
  AdviceOfAllocations& advice() { return advice_; }
  CallRecording& recording() { return recording_; }
  Arrays& arrays() { return arrays_; }
  MemoryPools& pools() { return pools_; }
  VirtualMemory& virtual_memory() { return virtual_memory_; }
  Graphs& graphs() { return graphs_; }
  CopySides& copy_sides() { return copy_sides_; }
  StreamValues& stream_values() { return values_; }
  HostAccesses& host_accesses() { return host_accesses_; }
  ProcessMemory& process_memory() { return process_memory_; }
  Execution& execution() { return execution_; }

 private:
  void start();
  void forget_everything();
  void report_what_is_left(const Allocations::IsMeant& is_meant = {}) const;
  void for_idle_host(void (Execution::*run)());
  static DeviceStates first_of(const DeviceState::Shared& shared);

  std::mutex mutex_;
  vgpu::DeviceMemory memory_;
  Observers observers_;
  std::vector<vgpu::Observer*> watching_;  // also in the next trials
  Findings findings_;
  Trial trial_;
  std::size_t first_after_fork_ = SIZE_MAX;  // number of a finding, in a process forked late
  PrintBuffer prints_;
  CallRecording recording_;
  VirtualClock clock_;
  HostBlocks host_blocks_;
  AdviceOfAllocations advice_;
  Arrays arrays_;
  MemoryPools pools_;
  VirtualMemory virtual_memory_;
  ProcessMemory process_memory_{memory_};
  Graphs graphs_;
  SharedAllocations allocations_;
  LastErrors last_errors_;
  const DeviceState::Shared shared_{.memory = memory_,
                                    .observers = observers_,
                                    .findings = findings_,
                                    .recording = recording_,
                                    .of_all = allocations_,
                                    .trial = trial_,
                                    .last_errors = last_errors_,
                                    .prints = prints_};
  DeviceStates devices_ = first_of(shared_);
  VisibleDevices visible_;
  // Addresses belong to the system, so the allocations of any device can be found through this one.
  Allocations& address_space_{devices_.front().allocations};
  Transfers transfers_{observers_, findings_};
  Arrivals arrivals_{trial_, memory_};
  LaunchProgress progress_{trial_};
  HostAccesses host_accesses_{
      {.memory = memory_, .trial = trial_, .findings = findings_, .transfers = transfers_}};
  CopySides copy_sides_{address_space_, host_blocks_, findings_};
  CopyRunner copies_{copy_sides_, transfers_, arrivals_, clock_, recording_, findings_};
  KernelRunner kernels_{{.memory = memory_,
                         .textures = arrays_.objects,
                         .observers = observers_,
                         .trial = trial_,
                         .devices = devices_,
                         .findings = findings_,
                         .conditionals = graphs_.conditionals,
                         .host_blocks = host_blocks_,
                         .transfers = transfers_,
                         .arrivals = arrivals_,
                         .clock = clock_,
                         .host_accesses = host_accesses_,
                         .progress = progress_}};
  LibraryRunner libraries_{{.allocations = address_space_,
                            .host_blocks = host_blocks_,
                            .findings = findings_,
                            .transfers = transfers_,
                            .clock = clock_,
                            .observers = observers_}};
  StreamValues values_{address_space_, copy_sides_, findings_, observers_};
  RunAhead ahead_{{.memory = memory_,
                   .trial = trial_,
                   .devices = devices_,
                   .host_blocks = host_blocks_,
                   .transfers = transfers_,
                   .recording = recording_,
                   .copies = copies_,
                   .kernels = kernels_}};
  WorkRunner work_{{.mutex = mutex_,
                    .trial = trial_,
                    .prints = prints_,
                    .kernels = kernels_,
                    .copies = copies_,
                    .libraries = libraries_,
                    .allocations = address_space_,
                    .findings = findings_,
                    .transfers = transfers_,
                    .arrivals = arrivals_,
                    .host_accesses = host_accesses_,
                    .values = values_,
                    .ahead = ahead_,
                    .memory = memory_}};
  IdleProgress idle_{[this] { for_idle_host(&Execution::run_all_for_nobody); }, host_polls,
                     [this] { for_idle_host(&Execution::resume_for_nobody); }};
  Execution execution_{{.mutex = mutex_,
                        .trial = trial_,
                        .devices = devices_,
                        .findings = findings_,
                        .recording = recording_,
                        .clock = clock_,
                        .idle = idle_,
                        .runner = work_}};
};

// The runtime API consists of free functions, so there is one system per process, and this function
// is the only place that assumes it.  Created at first use, never destroyed.
System& system_of_process();

}  // namespace warpcheck::cudart
