// How the operations of streams come to run: asked for by calls, and run when the host
// waits for them, when too many are waiting, or when nobody will wait any more.  What each does is
// its runner's.
//
// A kernel of a plain program that waits for something else is suspended (suspendable_kernel.hpp).
// It is resumed when what it polls has changed; until then calls that need not wait for it return,
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

#include "vgpu/cudart/device/device_state.hpp"
#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/cudart/streams/queues.hpp"
#include "vgpu/cudart/suspended/suspendable_kernel.hpp"

namespace warpcheck::cudart {

class CallRecording;
class Clock;
class Findings;
class IdleProgress;
class Trial;

// The host while an operation runs.
struct HostState {
  bool is_gone = false;  // its memory may be gone, too: it is not touched
  bool waits = true;     // in a call, until something has run
  // All that was or will be asked for comes before the operation that runs, or after it.
  bool runs_alone = false;
  // Lets others go on while the kernel that runs cannot; null: nobody can.
  vgpu::ConcurrentWork* concurrent_work = nullptr;
};

// Does what operations say.
class OperationRunner {
 public:
  virtual ~OperationRunner() = default;
  virtual void run(const Operation& operation, const HostState& host) = 0;
  // Whether one that is ready may run, as it does not wait for a value that is not there.
  virtual bool can_begin(const Operation&) { return true; }
  // What it comes after by a value that it has waited for; nullptr: by nothing that is known.
  virtual const OperationSet* comes_after(const Operation&, const OperationSet& /*done*/) {
    return nullptr;
  }
  // The value will never be there: the operation begins all the same.
  virtual void give_up_waiting(const Operation&) {}
  // One was asked for: it may run from now on.
  virtual void asked_for(const Work&) {}
  // What the host has done without a call is told, as nothing is known of what follows.
  virtual void tell_host_accesses(Operations&) {}
  // The kernel has been suspended, and will be resumed.
  virtual void suspended(const Operation&) {}
  // What has run meanwhile has written what it waits for.
  virtual void signalled(const Operation&) {}
  // What comes before all that the host asks for from now on, as it has seen that it is done;
  // nullptr: nothing.
  virtual const OperationSet* host_may_know() { return nullptr; }
  // Whether other processes may write to memory.
  virtual bool has_other_processes() { return false; }
  // The host has waited for all that it has asked for.
  virtual void host_knows_all() {}
  // The host sees what has been printed so far.
  virtual void bring_out_prints() = 0;
  // All operations that were asked for have run, so many of them.
  virtual void all_done(const OperationSet& known_to_host, std::uint32_t operations) = 0;
};

class Execution {
 public:
  // Nothing is owned.
  struct Needs {
    std::mutex& mutex;  // held by whoever calls; released while the program's own functions run
    Trial& trial;
    DeviceStates& devices;
    Findings& findings;
    const CallRecording& recording;
    const Clock& clock;
    IdleProgress& idle;
    OperationRunner& runner;
  };
  explicit Execution(const Needs& needs) : needs_(needs) {}

  Queues& queues() { return queues_; }
  // nullptr, and a finding where it has been destroyed: no such stream.
  Stream* find_stream(std::string_view call, cudaStream_t handle);
  Event* find_event(std::string_view call, cudaEvent_t handle);

  // Asks for an operation of a stream.  until_done: returns when it has run, with the error that
  // the device is in.
  cudaError_t submit(Stream& stream, Work work, bool until_done);
  // Several operations that nothing orders among themselves; what follows in the stream comes after
  // all of them.
  cudaError_t submit_together(Stream& stream, std::vector<Work> works);
  // One that comes after all that was asked of these devices, and before all that will be.
  void submit_across(const std::set<unsigned>& devices, Work work, unsigned device);
  // The same without a stream, for a device, after what is given.
  OperationPtr enqueue(Work&& work, const std::vector<OperationPtr>& after, unsigned device);
  // A kernel that allows it may begin before the kernel before it has completed (programmatic
  // dependent launch), unless the host has waited for that.
  void let_begin_early(Work& work, Operation& before);

  // Runs operations, in the strategy's order, until one has run; and the host knows of it.
  void wait_for(const OperationPtr& operation);
  void wait_for(const Stream& stream);
  void wait_for_device(unsigned number);
  void wait_for_all();
  // Until a recording of another process is done.
  void wait_for_processes(const ProcessEvent& event, std::uint64_t recording);
  // Runs one operation, if one is ready.
  void make_progress();
  // Runs all operations although the host does not wait for them, and knows nothing of it.  Where a
  // kernel is suspended, that has to be done again.
  void run_all_for_nobody();
  // Resumes suspended kernels, if they can go on.
  void resume_for_nobody();
  // Runs what is left when nobody will wait any more; the host is gone.
  void run_what_is_left();
  // The host has seen that an operation is done.
  void host_knows(const Operation& operation);
  // Tells what the host has done so far without a call.
  void tell_host_accesses() { needs_.runner.tell_host_accesses(operations_); }

  // How many operations the host has asked for, where some have not ended; nothing: all have.
  [[nodiscard]] std::optional<std::uint32_t> unfinished() const {
    if (operations_.pending() == 0) return std::nullopt;
    return operations_.asked_for();
  }

  // Forgets every stream, event and operation.
  void reset();
  // The streams and events of a device are gone.
  void forget_streams_of(unsigned device) { queues_.forget(device); }

 private:
  //   goal: what the host waits for in a call; null: for nothing that is known
  void run_next(const OperationSet* goal = nullptr);
  void run(const OperationPtr& operation, const OperationSet* goal);
  void resume(SuspendableKernel& call, const OperationSet* goal);
  void give_up(SuspendableKernel& call);
  template <typename Run>
  bool perform(Operation& operation, const void* caller, Run run);
  [[nodiscard]] bool can_begin(const Operation& operation) const;
  [[nodiscard]] SuspendableKernel* find_resumable() const;
  [[nodiscard]] bool must_suspend(const SuspendableKernel& call) const;
  // Nothing can run at once.
  void wait_for_others(const OperationSet* goal);
  void wait_for_change();
  void wait_shortly();
  [[nodiscard]] bool others_may_help() const;
  void give_up_after_long(bool is_asked);
  // Nothing that is ready can begin.
  void wait_for_value();
  [[nodiscard]] bool can_run_next() const;
  void free_the_lock();
  void host_has_waited();
  [[nodiscard]] bool may_run(const Operation& operation) const;

  Needs needs_;
  Queues queues_;
  Operations operations_;
  std::vector<OperationPtr> before_;  // what the operation comes after that is being asked for
  std::condition_variable_any operation_done_;
  std::size_t waiting_ = 0;  // threads, for operation_done_
  std::size_t running_ = 0;  // operations: host functions, which run without the mutex
  HostState host_;
  std::vector<std::unique_ptr<SuspendableKernel>> suspended_;  // that have begun
  std::vector<std::unique_ptr<SuspendableKernel>> spare_;
  // Since when nothing has happened but that calls asked whether a kernel has ended, and how often.
  struct Stuck {
    const SuspendableKernel* call = nullptr;
    std::uint32_t operations = 0;  // asked for until then
    std::chrono::steady_clock::time_point since{};
    std::uint64_t questions = 0;
  };
  Stuck stuck_;
};

}  // namespace warpcheck::cudart
