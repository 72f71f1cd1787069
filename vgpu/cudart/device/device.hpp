// The one virtual device behind the runtime API: the components that its calls need, and what they
// do together.
//
// The CUDA runtime API is a set of free functions, so there is one device a process, and
// Device::instance() is the place that says so; every API call takes its mutex (see answer() in
// api.hpp).  Nothing here depends on host addresses or on time.
//
// Calls ask for operations of streams (operations.hpp); these run when the host waits for them,
// when too many are waiting, or when the trial ends.  So the host is always as far ahead of the
// device as its calls allow (but see idle_progress.hpp).
#pragma once

#include <cuda_runtime_api.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string_view>
#include <vector>

#include "vgpu/cudart/api/call_log.hpp"
#include "vgpu/cudart/device/allocations.hpp"
#include "vgpu/cudart/device/arrays.hpp"
#include "vgpu/cudart/device/clock.hpp"
#include "vgpu/cudart/device/device_limits.hpp"
#include "vgpu/cudart/device/errors.hpp"
#include "vgpu/cudart/device/findings.hpp"
#include "vgpu/cudart/device/host_blocks.hpp"
#include "vgpu/cudart/device/managed_advice.hpp"
#include "vgpu/cudart/device/observers.hpp"
#include "vgpu/cudart/device/pools.hpp"
#include "vgpu/cudart/device/print_buffer.hpp"
#include "vgpu/cudart/device/trial.hpp"
#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/streams/graphs.hpp"
#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/cudart/streams/queues.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/memory/memory.hpp"

namespace warpcheck::cudart {

// A box of bytes in device memory.
struct Rows {
  const vgpu::Allocation* allocation = nullptr;
  std::uint32_t offset = 0;
  std::size_t pitch = 0, slice = 0;
  Box box;
  friend bool operator==(const Rows&, const Rows&) = default;
};

// What a copy from the host, or a fill, brings.
struct Brought {
  enum class From : std::uint8_t { elsewhere, host, value };
  From from = From::elsewhere;
  const void* host = nullptr;  // where the first row came from, and its pitch and slice
  std::size_t pitch = 0, slice = 0;
  std::uint32_t value = 0;
  unsigned element_bytes = 0;
  friend bool operator==(const Brought&, const Brought&) = default;
};
// The same as bytes that are there, row by row.
struct Bytes {
  const std::byte* data = nullptr;
  std::size_t pitch = 0, slice = 0;
};

class Device {
 public:
  static Device& instance();  // made at first use and never destroyed

  std::mutex& mutex() { return mutex_; }

  // ---- trials ----
  void begin_trial(const TrialSettings& settings);
  TrialResult end_trial();
  // Every API call comes through here: outside a trial, the device starts afresh with default
  // settings.
  void enter_call();
  // The process ends outside a trial: tells what is still allocated, if that is wanted.
  TrialResult end_ambient(bool tell_leaks);
  // Findings and refusals so far.
  [[nodiscard]] TrialResult peek_result() const;
  // At the exit of the process.
  void finish() { run_what_is_left(); }
  // cudaDeviceReset: everything allocated or created is gone; the trial goes on.
  void reset();
  // Brings out what device code has printed.
  void flush_prints() { trial_.bring_out(prints_); }

  // ---- components ----
  Trial& trial() { return trial_; }
  [[nodiscard]] const Trial& trial() const { return trial_; }
  Errors& errors() { return errors_; }
  Findings& findings() { return findings_; }
  Allocations& allocations() { return allocations_; }
  [[nodiscard]] const Allocations& allocations() const { return allocations_; }
  HostBlocks& host_blocks() { return host_blocks_; }
  DeviceLimits& limits() { return limits_; }
  CallRecording& recording() { return recording_; }
  Arrays& arrays() { return arrays_; }
  MemoryPools& pools() { return pools_; }
  Graphs& graphs() { return graphs_; }
  AdviceOfAllocations& advice() { return advice_; }
  Clock& clock() { return clock_; }

  // ---- what copies tell ----
  // Tell the observers that an operation of the API function `call` reads or writes these bytes.
  void host_read(std::string_view call, const Rows& rows, const Operation& operation);
  //   bytes: what is written, if it comes from somewhere
  void host_write(std::string_view call, const Rows& rows, const Operation& operation,
                  const Brought& brought, const Bytes& bytes = {});
  void device_copy(std::string_view call, const Rows& target, const Rows& source,
                   const Operation& operation);
  // Tells `warpcheck exec` which bytes a copy has brought to the host.
  void tell_copy_to_host(const CopyWork& work, const void* first, std::size_t pitch,
                         std::size_t slice, const Operation& operation);

  // ---- execution ----
  Queues& queues() { return queues_; }
  // nullptr, and a finding where it has been destroyed: no such stream.
  Stream* find_stream(std::string_view call, cudaStream_t handle);
  Event* find_event(std::string_view call, cudaEvent_t handle);
  // Asks for an operation of a stream.  until_done: returns when it has run, with the error that
  // the device is in.
  cudaError_t submit(Stream& stream, Work work, bool until_done);
  // The same without a stream, after what is given.
  OperationPtr enqueue(Work work, const std::vector<OperationPtr>& after);
  // Runs operations, in the strategy's order, until one has run; and the host knows of it.
  void wait_for(const OperationPtr& operation);
  void wait_for(const Stream& stream);
  void wait_for_all();
  // Runs one operation, if one is ready.
  void make_progress();
  // Runs all operations although the host does not wait for them, and knows nothing of it.
  void run_all_for_nobody();
  // How many calls there were; may be asked without the mutex.
  [[nodiscard]] std::uint64_t calls() const { return calls_.load(std::memory_order_relaxed); }
  // The host has seen that an operation is done.
  void host_knows(const Operation& operation) { operations_.host_waited_for(operation); }
  static bool in_host_function();

 private:
  Device() = default;
  void start();
  void tell_what_is_left() const;
  void forget_everything();
  // What is left when nobody will wait any more.  Host memory may be gone: it is not touched.
  void run_what_is_left();
  void run_next();
  void run(Operation& operation);
  void run_kernel(const KernelWork& work, const Operation& operation);
  void run_on_host(const HostWork& work);
  void run_free(const FreeWork& work, const Operation& operation);
  [[nodiscard]] std::vector<std::uint32_t> unordered_launches(const Operation& operation) const;
  // What a copy or fill has done.
  struct Touch {
    std::string_view call;
    Rows rows;
    bool write = false;
    Brought brought;
    friend bool operator==(const Touch&, const Touch&) = default;
  };
  [[nodiscard]] static bool brings_the_same(const Touch& earlier, const Touch& later,
                                            const Bytes& bytes);
  void touch(Touch now, const Bytes& bytes, const Operation& operation);
  void tell_host_access(const Rows& rows, bool write, const Operation& operation);
  void tell_memory_of_host();

  std::mutex mutex_;
  vgpu::DeviceMemory memory_;
  Observers observers_;
  Findings findings_;
  Trial trial_;
  PrintBuffer prints_;
  CallRecording recording_;
  Allocations allocations_{memory_, observers_, findings_, recording_};
  Errors errors_{trial_, findings_, allocations_};
  DeviceLimits limits_{memory_, prints_};
  HostBlocks host_blocks_;
  AdviceOfAllocations advice_;
  Arrays arrays_;
  MemoryPools pools_;
  Graphs graphs_;
  Clock clock_;
  vgpu::Machine machine_{memory_};
  std::atomic<std::uint64_t> calls_{0};
  Queues queues_;
  Operations operations_;
  std::condition_variable_any operation_done_;
  std::size_t running_ = 0;  // operations: host functions, which run without the mutex
  bool host_is_gone_ = false;
  bool nobody_waits_ = false;           // what runs is waited for by no call
  std::uint32_t last_kernel_ = 0;       // launched last: one more than its index in the result
  std::uint32_t told_operations_ = 0;   // when memory of the host was told last
  RunLog<std::uint32_t> ran_launches_;  // by Launch::index
  RunLog<Touch> touched_;
};

}  // namespace warpcheck::cudart
