// Executes the operations of streams: calls request them, and they run when the host waits for
// them, when too many are pending, or when the host will never wait again.  An OperationRunner
// performs each operation.
//
// A kernel of a plain program that waits for other work is suspended (suspendable_kernel.hpp).  It
// is resumed when what it polls has changed.  Until then, calls that need not wait for it return,
// and operations of other streams run.
#pragma once

#include <cuda_runtime_api.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "vgpu/cudart/api/calls/api_call.hpp"
#include "vgpu/cudart/device/device_state.hpp"
#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/cudart/streams/queues.hpp"
#include "vgpu/cudart/suspended/suspendable_kernel.hpp"

namespace warpcheck::cudart {

class CallRecording;
class VirtualClock;
class Findings;
class IdleProgress;
class Trial;

// The state of the host while an operation runs.
struct HostState {
  bool is_gone = false;  // its memory may be released too, so it is not accessed
  bool waits = true;     // it is in a call until some operation has run
  // Everything requested so far and later comes before or after the running operation.
  bool runs_alone = false;
  // Lets other work run while the running kernel cannot continue; null: there is no other work.
  vgpu::ConcurrentWork* concurrent_work = nullptr;
};

// Performs the operations.
class OperationRunner {
 public:
  virtual ~OperationRunner() = default;
  virtual void run(const Operation& operation, const HostState& host) = 0;
  // Runs a copy that is not part of its operation.
  virtual void run(const CopyWork& work, const Operation& operation, const HostState& host) = 0;
  // Returns whether a ready operation may run: it does not wait for a value that is not there yet.
  virtual bool can_begin(const Operation&) { return true; }
  // Returns the operations that it comes after because of a value that it has waited for; nullptr:
  // none is known.
  virtual const OperationSet* comes_after(const Operation&, const OperationSet& /*done*/) {
    return nullptr;
  }
  // The value will never be written: the operation begins nevertheless.
  virtual void give_up_waiting(const Operation&) {}
  // The host waits for the operations of `goal`, and none is in progress: those that come next may
  // be executed ahead, if this cannot be distinguished.
  virtual void run_ahead(const Operations&, const OperationSet& /*goal*/, const HostState&) {}
  // An operation was requested and may run from now on.
  virtual void asked_for(Work&) {}
  // Reports what the host has done without a call, because the calls that follow are not known.
  virtual void report_host_accesses(Operations&) {}
  // The kernel has been suspended, and will be resumed.
  virtual void suspended(const Operation&) {}
  // What the host has done until then has been reported.
  virtual void reported_beside(const Operation& /*suspended*/) {}
  // The operation `by` has written what the kernel waits for.
  virtual void signalled(const Operation& /*kernel*/, const Operation& /*by*/) {}
  // The kernel goes on, and may read what the host has written.
  virtual void resumes(const Operation& /*kernel*/, const OperationSet& /*known_to_host*/) {}
  // Returns the operations that come before everything that the host requests from now on, because
  // it has seen that they are complete; nullptr: none.
  virtual const OperationSet* host_may_know() { return nullptr; }
  // Returns whether other processes may write to memory.
  virtual bool has_other_processes() { return false; }
  // The host has waited for everything that it has requested.
  virtual void host_knows_all(bool /*has_waited*/) {}
  // The host may now see what has been printed so far.
  virtual void bring_out_prints() = 0;
  // All requested operations have run; `operations` is their number.
  virtual void all_done(const OperationSet& known_to_host, std::uint32_t operations) = 0;
};

class Execution {
 public:
  // Nothing is owned.
  struct Dependencies {
    std::mutex& mutex;  // held by the caller; released while functions of the program run
    Trial& trial;
    DeviceStates& devices;
    Findings& findings;
    const CallRecording& recording;
    const VirtualClock& clock;
    IdleProgress& idle;
    OperationRunner& runner;
  };
  explicit Execution(const Dependencies& dependencies) : dependencies_(dependencies) {}

  Queues& queues() { return queues_; }
  // Returns nullptr if there is no such stream, with a finding if it has been destroyed.
  Stream* find_stream(std::string_view call, cudaStream_t handle);
  Event* find_event(std::string_view call, cudaEvent_t handle);

  // Requests an operation of a stream. until_done: returns when it has run, with the error state of
  // the device.
  cudaError_t submit(Stream& stream, Work work, bool until_done);
  // Does the same for a copy for which the host waits, without a queue, if everything requested so
  // far comes before it and only kernels are pending; otherwise returns nothing.
  std::optional<cudaError_t> run_at_once(Stream& stream, const CopyWork& work);
  // A work and, of a copy whose source is not read in the order of the stream, that read.
  struct TogetherWork {
    Work work;
    std::optional<EarlyReadWork> early{};
    bool is_read_in_call = false;  // before the call returns
  };
  // Requests several operations that are not ordered among themselves; later operations of the
  // stream come after all of them.
  cudaError_t submit_together(Stream& stream, std::vector<TogetherWork> works);
  // Requests an operation after everything that was requested of these devices, and before
  // everything requested later.
  void submit_across(const std::set<unsigned>& devices, Work work, unsigned device);
  // Requests an operation without a stream, for a device, after the given operations.
  //   asked_at: return address of the call that findings name
  OperationPtr enqueue(Work&& work, const std::vector<OperationPtr>& after, unsigned device,
                       const void* asked_at = current_call().return_address);
  // What is requested from now on is requested in this stream; null: in none.
  void launches_in(const Stream* stream) { stream_ = stream; }
  // Lets a kernel that allows it begin before the previous kernel has completed (programmatic
  // dependent launch), unless the host has waited for that one.
  void let_begin_early(Work& work, Operation& before);

  // Runs operations, in the strategy's order, until the given one has run; the host then knows of
  // it.
  void wait_for(const OperationPtr& operation);
  void wait_for(const Stream& stream);
  void wait_for_device(unsigned number);
  void wait_for_all();
  // Waits until a recording by another process is complete.
  void wait_for_processes(const ProcessEvent& event, std::uint64_t recording);
  // Runs one operation, if one is ready.
  void make_progress();
  // Runs all operations although the host does not wait for them and does not learn of it.  Must be
  // called again if a kernel is suspended.
  void run_all_for_nobody();
  // Runs what can begin, although the host does not wait for it and does not learn of it: what
  // follows changes how accesses are judged.
  void run_what_can_begin();
  // Resumes suspended kernels that can continue.
  void resume_for_nobody();
  // Runs the remaining operations when the host will never wait again; the host is gone.
  void run_what_is_left();
  // The host has seen that an operation is complete.
  void host_knows(const Operation& operation);
  // Reports what the host has done so far without a call.
  void report_host_accesses() { dependencies_.runner.report_host_accesses(operations_); }

  // Returns how many operations the host has requested, if some have not ended; nothing: all have
  // ended.
  [[nodiscard]] std::optional<std::uint32_t> unfinished() const {
    if (operations_.pending() == 0) return std::nullopt;
    return operations_.asked_for();
  }

  // Forgets every stream, event and operation.
  void reset();
  // Drops the streams and events of a device.
  void forget_streams_of(unsigned device) { queues_.forget(device); }

 private:
  //   goal: what the host waits for in a call; null: nothing that is known
  void run_next(const OperationSet* goal = nullptr);
  // Runs all operations while the host waits for them; it then knows of them.
  void run_all_pending();
  void run(const OperationPtr& operation, const OperationSet* goal);
  void resume(SuspendableKernel& call, const OperationSet* goal);
  void give_up(SuspendableKernel& call);
  template <typename Run>
  bool perform(Operation& operation, const void* caller, Run run);
  [[nodiscard]] bool can_begin(const Operation& operation) const;
  [[nodiscard]] SuspendableKernel* find_resumable() const;
  [[nodiscard]] bool must_suspend(const SuspendableKernel& call) const;
  // No operation can run immediately.
  void wait_for_others(const OperationSet* goal);
  void wait_for_change();
  void wait_shortly();
  [[nodiscard]] bool others_may_help() const;
  void give_up_after_long(bool is_asked);
  // No ready operation can begin.
  void wait_for_value();
  [[nodiscard]] bool can_run_next() const;
  void free_the_lock();
  void host_has_waited();
  // Tells the runner if the host knows of everything that was requested; returns whether it does.
  bool notify_if_host_knows_all(bool has_waited);
  [[nodiscard]] bool may_run(const Operation& operation) const;
  [[nodiscard]] bool everything_comes_before_next(Stream& stream);

  Dependencies dependencies_;
  Queues queues_;
  Operations operations_;
  const Stream* stream_ = nullptr;    // of the launches that are being requested
  std::vector<OperationPtr> before_;  // what the operation that is being requested comes after
  std::condition_variable_any operation_done_;
  std::size_t waiting_ = 0;  // threads that wait for operation_done_
  std::size_t running_ = 0;  // host functions, which run without the mutex
  HostState host_;
  // The number of operations requested before the host last waited for everything; nothing: it has
  // not yet.
  std::optional<std::uint32_t> all_done_at_;
  std::vector<std::unique_ptr<SuspendableKernel>> suspended_;  // kernels that have begun
  std::vector<std::unique_ptr<SuspendableKernel>> spare_;
  // Counts calls that only asked whether a kernel has ended, since the last other event.
  struct Stuck {
    const SuspendableKernel* call = nullptr;
    std::uint32_t operations = 0;  // number of operations requested before
    std::chrono::steady_clock::time_point since{};
    std::uint64_t questions = 0;
  };
  Stuck stuck_;
};

}  // namespace warpcheck::cudart
