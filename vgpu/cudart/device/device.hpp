// The state of the one virtual device behind the runtime API: memory, execution, the running
// trial, errors, streams.
//
// The CUDA runtime API is a set of free functions, so there is exactly one device; every API call
// takes its mutex (see answer() in api.hpp).  Nothing here depends on host addresses or on time.
//
// Calls ask for operations of streams (operations.hpp); these run when the host waits for them,
// when too many are waiting, or when the trial ends.  So the host is always as far ahead of the
// device as its calls allow (but see idle_progress.hpp).
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/check/checkers.hpp"
#include "vgpu/cudart/api/api_errors.hpp"
#include "vgpu/cudart/api/mishaps.hpp"
#include "vgpu/cudart/device/arrays.hpp"
#include "vgpu/cudart/device/pools.hpp"
#include "vgpu/cudart/device/print_buffer.hpp"
#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/cudart/streams/graphs.hpp"
#include "vgpu/cudart/streams/operations.hpp"
#include "vgpu/cudart/streams/queues.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/memory/memory.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck::cudart {

class CallLog;
class ExecSession;
struct LinkedKernel;

// A range of device memory that lies inside one live allocation.
struct DeviceRange {
  vgpu::Allocation* allocation = nullptr;
  std::uint32_t offset = 0;
  [[nodiscard]] std::byte* data() const { return allocation->data + offset; }
};

// What a program has said about managed memory.
struct ManagedAdvice {
  bool read_mostly = false;
  int preferred = cudaInvalidDeviceId, prefetched = cudaInvalidDeviceId;
  std::set<int> accessed_by;
};

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
  [[nodiscard]] bool in_trial() const { return phase_ == Phase::trial; }
  [[nodiscard]] bool in_ambient() const { return phase_ == Phase::ambient; }
  // A trial has ended and nothing was called since: its memory is still there to be freed.
  [[nodiscard]] bool trial_just_ended() const { return phase_ == Phase::ended; }
  [[nodiscard]] const TrialSettings& settings() const { return settings_; }
  // The process ends outside a trial: tells what is still allocated, if that is wanted.
  TrialResult end_ambient(bool tell_leaks);
  // Findings and refusals so far.
  [[nodiscard]] TrialResult peek_result() const;
  // At the exit of the process.
  void finish() { run_what_is_left(); }
  // Of trials the one that all have; of a plain program its own.
  [[nodiscard]] const virtual_gpu::Capability& capability() const { return *capability_; }
  // Counts fresh starts of the device.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  // cudaDeviceReset: everything allocated or created is gone; the trial goes on.
  void reset();

  // ---- errors ----
  // Remembers an error for cudaGetLastError, tells it (api_errors.hpp), and hands it back.
  cudaError_t record(cudaError_t error);
  // A host function (cudaLaunchHostFunc) has called the API, which it must not.
  cudaError_t refuse_in_host_function();
  // What the running call is to be told with if it fails, where its arguments do not say it.
  void describe_call(FailedCall call) { described_call_ = std::move(call); }
  cudaError_t take_last_error();
  [[nodiscard]] cudaError_t last_error() const { return last_error_; }
  // The error of a launch that died; every later call that needs the device answers it.
  [[nodiscard]] cudaError_t sticky_error() const { return sticky_error_; }
  void refuse(std::string_view reason);
  void add_finding(vgpu::Finding finding) {
    if (checkers_.add(std::move(finding))) call_is_told_ = true;
  }

  // ---- memory ----
  vgpu::DeviceMemory& memory() { return memory_; }
  // nullptr: out of memory.
  vgpu::Allocation* allocate(std::uint64_t bytes, ptx::Space space = ptx::Space::global,
                             std::string_view name = {});
  // At one address for host and device; its bytes count as written, as the host's writes are not
  // seen.  nullptr: out of memory.
  vgpu::Allocation* allocate_mapped(std::uint64_t bytes);
  // Memory of a graph is kept for the graph's next launch.
  void free(vgpu::Allocation& allocation);
  // Whether an address that a program passed is one of the device's (live, freed, or just past
  // an allocation) and not the host's.
  [[nodiscard]] bool owns(const void* pointer) const;
  // The range of `bytes` at `pointer`, for the API function `call`; nothing, and a finding, when
  // it is not inside one allocation.
  std::optional<DeviceRange> range_at(std::string_view call, const void* pointer,
                                      std::uint64_t bytes, bool write);
  // Tell the observers that the host reads or writes these bytes.
  void host_write(const vgpu::Allocation& allocation, std::uint32_t offset, std::uint32_t bytes);
  // The same of an operation of the API function `call`.
  void host_read(std::string_view call, const Rows& rows, const Operation& operation);
  //   bytes: what is written, if it comes from somewhere
  void host_write(std::string_view call, const Rows& rows, const Operation& operation,
                  const Brought& brought, const Bytes& bytes = {});
  void device_copy(std::string_view call, const Rows& target, const Rows& source,
                   const Operation& operation);
  // Tells `warpcheck exec` which bytes a copy has brought to the host.
  void tell_copy_to_host(const CopyWork& work, const void* first, std::size_t pitch,
                         std::size_t slice, const Operation& operation);

  // ---- page-locked host memory, by address ----
  struct HostBlock {
    std::size_t bytes = 0;
    unsigned flags = 0;
    bool registered = false;  // the program's own memory
    // What kernels use: the same bytes, or, of registered memory, a copy of them that is brought
    // up to date around every kernel.  Null: no kernel can know it.
    vgpu::Allocation* allocation = nullptr;
  };
  std::map<std::uintptr_t, HostBlock>& host_blocks() { return host_blocks_; }
  // The block that holds the address, or nullptr; its start in *start.
  const HostBlock* find_host_block(const void* pointer, std::uintptr_t* start = nullptr) const;

  Arrays& arrays() { return arrays_; }
  MemoryPools& pools() { return pools_; }
  Graphs& graphs() { return graphs_; }
  std::map<const vgpu::Allocation*, ManagedAdvice>& advice() { return advice_; }

  // ---- execution ----
  Queues& queues() { return queues_; }
  // Brings out what device code has printed: in a trial to its result, else to stdout and stderr.
  void flush_prints();
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
  // Memory that a free which has not run yet will give back.
  std::set<const vgpu::Allocation*>& to_be_freed() { return to_be_freed_; }
  void spend_cycles(std::uint64_t cycles) { clock_ += cycles; }
  [[nodiscard]] std::uint64_t clock() const { return clock_; }

  // Where calls are recorded (call_log.hpp); nullptr: nowhere.  Not owned.
  [[nodiscard]] CallLog* call_log() const { return call_log_; }
  void set_call_log(CallLog* log) { call_log_ = log; }

  // cudaDeviceSetLimit, by cudaLimit.
  static constexpr std::size_t kLimits = 7;
  [[nodiscard]] const std::array<std::size_t, kLimits>& limits() const { return limits_; }
  // The size of the heap can be set until a kernel runs that uses it; at most capacity_bytes().
  cudaError_t set_limit(std::size_t limit, std::size_t value);

 private:
  enum class Phase : std::uint8_t { fresh, ambient, trial, ended };

  Device();
  void start(const TrialSettings& settings);
  void forget_everything();
  void require_possible(std::uint64_t bytes) const;
  void tell_what_is_left();
  // What is left when nobody will wait any more.  Host memory may be gone: it is not touched.
  void run_what_is_left();
  void run_next();
  void run(Operation& operation);
  void run_kernel(const KernelWork& work, const Operation& operation);
  void run_on_host(const HostWork& work);
  void run_free(const FreeWork& work, const Operation& operation);
  void run_allocate(const AllocateWork& work);
  void exchange_registered_memory(bool to_device);
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
  [[nodiscard]] vgpu::Strategy& strategy();
  // nullptr: not under `warpcheck exec`, or in a trial.
  [[nodiscard]] ExecSession* exec_session() const;
  void tell_memory_of_host();

  template <typename Call>
  void notify(Call&& call) {
    for (vgpu::Observer* observer : observers_) call(*observer);
  }

  std::mutex mutex_;
  vgpu::DeviceMemory memory_;
  vgpu::Machine machine_;
  vgpu::DefaultPolicy default_policy_;
  vgpu::Checkers checkers_;
  PrintBuffer prints_;
  std::vector<vgpu::Observer*> observers_;
  TrialSettings settings_;
  const virtual_gpu::Capability* capability_ = &virtual_gpu::kTrialCapability;
  Phase phase_ = Phase::fresh;
  TrialResult result_;
  std::vector<std::uint64_t> launched_hashes_;  // beside result_.kernels
  std::uint64_t generation_ = 0;
  std::atomic<std::uint64_t> calls_{0};
  Mishaps mishaps_;
  FailedCall described_call_;
  bool call_is_told_ = false;  // by a finding of its own, or a refusal
  cudaError_t last_error_ = cudaSuccess;
  cudaError_t sticky_error_ = cudaSuccess;
  std::map<std::uintptr_t, HostBlock> host_blocks_;
  Arrays arrays_;
  MemoryPools pools_;
  Graphs graphs_;
  std::map<const vgpu::Allocation*, ManagedAdvice> advice_;
  Queues queues_;
  Operations operations_;
  std::condition_variable_any operation_done_;
  std::size_t running_ = 0;  // operations: host functions, which run without the mutex
  bool host_is_gone_ = false;
  bool nobody_waits_ = false;          // what runs is waited for by no call
  std::uint32_t last_kernel_ = 0;      // launched last: one more than its index in result_.kernels
  std::uint32_t told_operations_ = 0;  // when memory of the host was told last
  std::set<const vgpu::Allocation*> to_be_freed_;
  RunLog<std::uint32_t> ran_launches_;  // by Launch::index
  RunLog<Touch> touched_;
  std::uint64_t clock_ = 0;  // virtual cycles
  std::array<std::size_t, kLimits> limits_{};
  CallLog* call_log_ = nullptr;
  bool heap_in_use_ = false;  // a kernel that can call malloc() or free() has run
};

}  // namespace warpcheck::cudart
