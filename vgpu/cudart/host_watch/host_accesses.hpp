// The accesses of a plain program, without a call, to memory that it shares with kernels, as part
// of the order of streams: each load and store comes after what the host has waited for and before
// what it requests later, and is unordered with everything else.
//
// So memory that a pending operation may use is watched from the call that requests the operation
// until the host has waited for everything.  Without a watch (host_watch.hpp), no access is seen.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <unordered_set>
#include <utility>
#include <vector>

#include "vgpu/cudart/host_watch/host_watch.hpp"
#include "vgpu/cudart/host_watch/signals_of_kernels.hpp"
#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/machine/events.hpp"

namespace warpcheck::cudart {

class Findings;
class Observers;
class Transfers;
class Trial;

class HostAccesses {
 public:
  // Nothing is owned.
  struct Dependencies {
    vgpu::DeviceMemory& memory;
    Trial& trial;
    Findings& findings;
    Transfers& transfers;
  };
  explicit HostAccesses(const Dependencies& dependencies)
      : dependencies_(dependencies), signals_(dependencies.memory) {}

  SignalsOfKernels& signals() { return signals_; }
  // Returns whether memory must be mapped so that it can be watched.
  [[nodiscard]] bool are_watched() const;

  // An operation may run from now on.
  void asked_for(const Work& work);
  // launch_begins: a launch is about to run.  launch_ended: it has ended, as the given operation.
  void launch_begins(std::uint32_t launch);
  void launch_ended(std::uint32_t launch, const Operation& operation);
  // The running launch has been suspended: it may have signalled the host.
  void launch_left(const Operation& operation);
  // The suspended launch has been resumed; another launch may have begun in the meantime.
  void launch_goes_on(std::uint32_t launch) {
    running_ = launch;
    signals_.go_on(launch);
  }
  // Returns the launch that has begun or been resumed last.
  [[nodiscard]] std::uint32_t running() const { return running_; }
  // Returns what comes before everything that the host requests, in addition to what it has waited
  // for; nullptr: nothing.
  [[nodiscard]] const OperationSet* may_know() const { return knows_more_ ? &may_know_ : nullptr; }
  // A function of the program is about to run in a stream.  Its accesses belong to the operation,
  // and it may tell the host what comes before it.  Returns its number (InHostFunction).
  //   signals_host: a thread of the program does not wait in a call meanwhile, so that it may wait
  //               for the function itself
  std::uint32_t host_function_begins(const Operation& operation, bool signals_host);
  void host_function_ended(std::uint32_t number);
  // Catches accesses to memory that is not the program's.
  //   report_now: calls report()
  void watch_device_memory(void (*report_now)()) const {
    if (are_watched()) host_watch()->watch_device_memory(report_now);
  }
  // Reports the accesses seen so far.
  void report(Operations& operations);
  // The host has waited for all operations.
  //   has_waited: in a call; otherwise a call has told it
  void host_knows_all(bool has_waited);
  // The API has allocated memory that the host shares: the pages before and behind are watched.
  void allocated(const vgpu::Allocation& allocation);
  // The API frees the allocation, or everything.
  void freed(const vgpu::Allocation& allocation);
  void forget_all();
  // Returns which accesses were not seen, and why; empty: none.
  [[nodiscard]] std::string not_checked() const;

 private:
  struct Ended {
    std::uint32_t launch = 0, operation = 0;  // their numbers
    OperationSet clock;
  };
  // A host function whose accesses have not all been reported.
  struct Function {
    std::uint32_t number = 0;
    Stamp stamp;
    OperationSet clock;
    bool has_ended = false;
  };
  // An access by the host that nothing orders with an unfinished launch, which may change the same
  // bytes.  When the host has waited for everything, a read that came before the launch is a race
  // if no code of the host has made it twice: nothing polls.  A write is one if the launch has
  // strongly read nothing that the host has written: the host has told it nothing.
  struct EarlyAccess {
    SeenAccess access;
    const vgpu::Allocation* part = nullptr;
    std::uint32_t offset = 0;
    Stamp stamp;
    OperationSet clock;
  };
  // A page whose accesses, or whose reads, are not seen.
  struct Unseen {
    AddressRange page;
    bool sees_writes = false;
  };
  void note_early(const SeenAccess& access, const vgpu::Allocation& part, std::uint32_t offset,
                  const Operation& step);
  using EarlyAccesses = std::map<std::tuple<std::uint32_t, std::uint64_t, bool>, EarlyAccess>;
  void report_early();
  void report_early(const EarlyAccess& early, const EarlyAccesses& all);
  [[nodiscard]] bool may_be_told(const Ended& ended, const EarlyAccesses& all) const;
  void change_unseen(const SeenAccess& change);
  bool read_unseen_signals(std::uint32_t launches);
  void pass_over_unseen();
  void report_unordered(const std::vector<SeenAccess>& seen, Operations& operations);
  bool is_reported_as_free(const SeenAccess& access);
  bool is_reported_as_overrun(const SeenAccess& access);
  bool read_signals(const SeenAccess& access, const vgpu::Allocation& part, std::uint32_t offset,
                    Function* function, const Operations& operations);
  void report_unreleased(const SeenAccess& access, const Ended& ended, const vgpu::Allocation& part,
                         std::uint32_t offset, const OperationSet& known);
  [[nodiscard]] std::map<std::uint32_t, std::size_t> signals_to_kernels(
      const std::vector<SeenAccess>& seen) const;
  void report_freed(const SeenAccess& seen, const vgpu::Allocation& freed);
  const vgpu::HostPlace& place_of(const SeenAccess& seen);

  Dependencies dependencies_;
  SignalsOfKernels signals_;
  // What the host may know without having waited for it in a call: of it, what host functions may
  // have told it.
  OperationSet may_know_, by_functions_;
  bool knows_more_ = false;  // through a signal of a launch, or of a host function
  EarlyAccesses early_;      // by code, address, and whether it writes
  std::vector<Function> functions_;
  std::uint32_t running_ = 0;  // the launch that has begun
  // Launches that have run or were suspended, and that the host may not know of.
  std::vector<Ended> ended_;
  std::unordered_set<std::uint32_t> left_;  // their numbers
  // Pages whose accesses are not seen; and those that were among them since the last report.
  std::vector<Unseen> unseen_, unseen_lately_;
  std::deque<vgpu::HostPlace> places_;  // a deque, because pointers to its elements are kept
  // By the place in code, and whether it is in a host function.
  std::map<std::pair<std::uint32_t, bool>, const vgpu::HostPlace*> place_of_code_;
};

// Returns whether the host waits for a kernel by repeatedly reading what the kernel will write.
// Needs no lock.
bool host_polls();

}  // namespace warpcheck::cudart
