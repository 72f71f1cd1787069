// What a plain program does by itself, without a call, to memory that it shares with kernels, as
// the streams see it: each load and store comes after what the host has waited for, and before what
// it asks for later; nothing orders it with the rest.
//
// So memory that an unfinished operation may use is watched from the call that asks for it until
// the host has waited for everything.  Without a watch (host_watch.hpp) nothing is seen.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <vector>

#include "vgpu/cudart/host/host_watch.hpp"
#include "vgpu/cudart/host/signals_of_kernels.hpp"
#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/machine/access.hpp"

namespace warpcheck::cudart {

class Findings;
class Observers;
class Transfers;
class Trial;

class HostAccesses {
 public:
  // Nothing is owned.
  struct Needs {
    vgpu::DeviceMemory& memory;
    Trial& trial;
    Findings& findings;
    Transfers& transfers;
  };
  explicit HostAccesses(const Needs& needs) : needs_(needs), signals_(needs.memory) {}

  SignalsOfKernels& signals() { return signals_; }
  // Whether memory is to be mapped so that it can be watched.
  [[nodiscard]] bool are_watched() const;

  // An operation may run from now on.
  void asked_for(const Work& work);
  // A launch is about to run; it has run.
  void launch_begins(std::uint32_t launch);
  void launch_ended(std::uint32_t launch, const Operation& operation);
  // The one that has begun has been left: it may have told the host something.
  void launch_left(const Operation& operation);
  // It goes on; another may have begun meanwhile.
  void launch_goes_on(std::uint32_t launch) {
    running_ = launch;
    signals_.go_on(launch);
  }
  // What comes before all that the host asks for, beside what it has waited for; nullptr: nothing.
  [[nodiscard]] const OperationSet* may_know() const { return knows_more_ ? &may_know_ : nullptr; }
  // A function of the program's runs in a stream: it may tell the host what comes before it.
  void host_function_begins(const Operation& operation) { may_know_.join(operation.clock); }
  // Tells what was seen until now.
  void tell(Operations& operations);
  // The host has waited for all operations.
  void host_knows_all();
  // The API frees the allocation, or everything.
  void freed(const vgpu::Allocation& allocation);
  void forget_all();
  // What of it was not seen, and why; empty: nothing.
  [[nodiscard]] std::string not_checked() const;

 private:
  struct Ended {
    std::uint32_t launch = 0, operation = 0;  // their numbers
    OperationSet clock;
  };
  void pass_over_given();
  void tell_unordered(const std::vector<SeenAccess>& seen, Operations& operations);
  void tell_unreleased(const SeenAccess& access, const Ended& ended, const vgpu::Allocation& part,
                       std::uint32_t offset, const Operations& operations);
  [[nodiscard]] std::map<std::uint32_t, std::size_t> signals_to_kernels(
      const std::vector<SeenAccess>& seen) const;
  void tell_freed(const SeenAccess& seen, const vgpu::Allocation& freed);
  const vgpu::HostPlace& place_of(const SeenAccess& seen);

  Needs needs_;
  SignalsOfKernels signals_;
  // What the host may know without having waited for it by a call.
  OperationSet may_know_;
  bool knows_more_ = false;    // by a signal of a launch
  std::uint32_t running_ = 0;  // the launch that has begun
  // Launches that have run, or were left, and that the host may not know.
  std::vector<Ended> ended_;
  std::deque<vgpu::HostPlace> places_;  // found by their addresses, so they stay
  std::map<std::uint32_t, const vgpu::HostPlace*> place_of_code_;
  std::map<const vgpu::Allocation*, const vgpu::HostPlace*> freed_at_;
};

// Whether the host waits for a kernel by reading again and again what it will write.  Needs no
// lock.
bool host_polls();

}  // namespace warpcheck::cudart
