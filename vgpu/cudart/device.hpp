// The state of the one virtual device behind the runtime API: memory, execution, the running
// trial, errors, streams.
//
// The CUDA runtime API is a set of free functions, so there is exactly one device; every API call
// takes its mutex (see answer() in api.hpp).  Nothing here depends on host addresses or on time.
//
// Streams run eagerly: every call does its work before it returns, in the order of the calls, so
// all streams are ordered with each other and every synchronisation has nothing to wait for.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/check/checkers.hpp"
#include "vgpu/cudart/print_buffer.hpp"
#include "vgpu/cudart/queues.hpp"
#include "vgpu/cudart/virtual_device.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/machine/memory.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck::cudart {

class CallLog;
struct LinkedKernel;

// A range of device memory that lies inside one live allocation.
struct DeviceRange {
  vgpu::Allocation* allocation = nullptr;
  std::uint32_t offset = 0;
  [[nodiscard]] std::byte* data() const { return allocation->data + offset; }
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
  // Findings and refusals so far.
  [[nodiscard]] TrialResult peek_result() const;
  // Counts fresh starts of the device.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  // cudaDeviceReset: everything allocated or created is gone; the trial goes on.
  void reset();

  // ---- errors ----
  // Remembers an error for cudaGetLastError and hands it back.
  cudaError_t record(cudaError_t error);
  cudaError_t take_last_error();
  [[nodiscard]] cudaError_t last_error() const { return last_error_; }
  // The error of a launch that died; every later call that needs the device answers it.
  [[nodiscard]] cudaError_t sticky_error() const { return sticky_error_; }
  void refuse(std::string_view reason);
  void add_finding(vgpu::Finding finding) { checkers_.add(std::move(finding)); }

  // ---- memory ----
  vgpu::DeviceMemory& memory() { return memory_; }
  // nullptr: out of memory.
  vgpu::Allocation* allocate(std::uint64_t bytes, ptx::Space space = ptx::Space::global,
                             std::string_view name = {});
  void free(vgpu::Allocation& allocation);
  // Whether an address that a program passed is one of the device's (live, freed, or just past
  // an allocation) and not the host's.
  [[nodiscard]] bool owns(const void* pointer) const;
  // The range of `bytes` at `pointer`, for the API function `call`; nothing, and a finding, when
  // it is not inside one allocation.
  std::optional<DeviceRange> range_at(std::string_view call, const void* pointer,
                                      std::uint64_t bytes, bool write);
  // Tell the observers that the host reads or writes these bytes.
  void host_read(const vgpu::Allocation& allocation, std::uint32_t offset, std::uint32_t bytes);
  void host_write(const vgpu::Allocation& allocation, std::uint32_t offset, std::uint32_t bytes);
  void device_copy(const vgpu::DeviceCopy& copy);

  // ---- page-locked host memory, by address ----
  struct HostBlock {
    std::size_t bytes = 0;
    unsigned flags = 0;
    std::unique_ptr<std::byte[]> storage;  // null: registered, not ours
  };
  std::map<std::uintptr_t, HostBlock>& host_blocks() { return host_blocks_; }
  // The block that holds the address, or nullptr; its start in *start.
  const HostBlock* find_host_block(const void* pointer, std::uintptr_t* start = nullptr) const;

  // ---- execution ----
  Queues& queues() { return queues_; }
  void run(const LinkedKernel& kernel, vgpu::Dim3 grid, vgpu::Dim3 block,
           std::uint32_t dynamic_shared_bytes, std::span<const std::byte> parameters);
  // Brings out what device code has printed: in a trial to its result, else to stdout and stderr.
  void flush_prints();
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
  void tell_what_is_left();

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
  Phase phase_ = Phase::fresh;
  TrialResult result_;
  std::vector<std::uint64_t> launched_hashes_;  // beside result_.kernels
  std::uint64_t generation_ = 0;
  cudaError_t last_error_ = cudaSuccess;
  cudaError_t sticky_error_ = cudaSuccess;
  std::map<std::uintptr_t, HostBlock> host_blocks_;
  Queues queues_;
  std::uint64_t clock_ = 0;  // virtual cycles
  std::array<std::size_t, kLimits> limits_{};
  CallLog* call_log_ = nullptr;
  bool heap_in_use_ = false;  // a kernel that can call malloc() or free() has run
};

}  // namespace warpcheck::cudart
