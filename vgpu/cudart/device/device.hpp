// One virtual device as the runtime API's functions use it: its own state, and the components that
// it shares with the other devices of its system (system.hpp).
#pragma once

#include <mutex>

#include "vgpu/cudart/device/current_device.hpp"
#include "vgpu/cudart/device/device_state.hpp"
#include "vgpu/cudart/device/system.hpp"
#include "vgpu/cudart/host_watch/host_watch.hpp"

namespace warpcheck::cudart {

class Device {
 public:
  Device(System& system, DeviceState& own) : system_(system), own_(own) {}

  [[nodiscard]] unsigned number() const { return own_.number; }
  System& system() { return system_; }
  // The number of devices; exists() tests a number that a program passes.
  [[nodiscard]] unsigned count() const { return system_.count(); }
  [[nodiscard]] bool exists(int number) const {
    return number >= 0 && static_cast<unsigned>(number) < count();
  }
  // Returns the number of a device in the system, of which the program may see only some devices.
  [[nodiscard]] unsigned number_in_system(int number) const {
    const std::vector<unsigned>& visible = system_.visible().numbers;
    const auto ordinal = static_cast<unsigned>(number);
    return visible.empty() ? ordinal : visible[ordinal];
  }
  // The number must exist.
  Device other(int number) { return system_.device(static_cast<unsigned>(number)); }

  // Must be called by every API call.
  void enter_call() { system_.enter_call(own_); }
  // cudaDeviceReset
  void reset() { system_.reset(own_); }
  // Waits until everything requested of this device has completed.
  void wait() { system_.execution().wait_for_device(number()); }
  // Outputs what device code has printed.
  void flush_prints() { system_.flush_prints(); }

  DeviceState& own() { return own_; }
  Errors& errors() { return own_.errors; }
  Allocations& allocations() { return own_.allocations; }
  DeviceLimits& limits() { return own_.limits; }

  Trial& trial() { return system_.trial(); }
  Findings& findings() { return system_.findings(); }
  HostBlocks& host_blocks() { return system_.host_blocks(); }
  AdviceOfAllocations& advice() { return system_.advice(); }
  CallRecording& recording() { return system_.recording(); }
  Arrays& arrays() { return system_.arrays(); }
  MemoryPools& pools() { return system_.pools(); }
  Graphs& graphs() { return system_.graphs(); }
  CopySides& copy_sides() { return system_.copy_sides(); }
  StreamValues& stream_values() { return system_.stream_values(); }
  HostAccesses& host_accesses() { return system_.host_accesses(); }
  ProcessMemory& process_memory() { return system_.process_memory(); }
  Execution& execution() { return system_.execution(); }

 private:
  System& system_;
  DeviceState& own_;
};

// A thread may have chosen a device in an earlier trial that had more devices.
inline Device System::current() {
  unsigned& number = current_device();
  if (number != 0 && number >= count()) number = 0;
  return number == 0 ? Device(*this, devices_.front()) : device(number);
}

// Runs `body(device)` with the calling thread's current device, under the lock.
template <typename Body>
decltype(auto) with_device(Body&& body) {
  System& system = system_of_process();
  const InEngine in_engine;
  const std::lock_guard lock(system.mutex());
  Device device = system.current();
  return body(device);
}

}  // namespace warpcheck::cudart
