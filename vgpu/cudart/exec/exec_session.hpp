// This process under `warpcheck exec`: its settings and its records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/check/counters/memory_counters.hpp"
#include "vgpu/check/proof/order_flow.hpp"
#include "vgpu/check/trace/trace.hpp"
#include "vgpu/cudart/debug/agent.hpp"
#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/exec/counts_saver.hpp"
#include "vgpu/cudart/exec/exec_log.hpp"
#include "vgpu/cudart/exec/exec_records.hpp"

namespace warpcheck::cudart {

class ExecSession {
 public:
  // Returns nullptr if this process does not run under `warpcheck exec`.  Created on first use.
  static ExecSession* instance();

  // Returns the settings of the device outside trials.
  [[nodiscard]] TrialSettings trial_settings();
  // Returns the requested compute capability, 90 for sm_90; 0: that of the program.
  [[nodiscard]] unsigned device() const { return settings_.device; }
  // Returns the number of devices of the system, of which the program may see fewer.
  [[nodiscard]] unsigned devices() const { return settings_.devices; }
  [[nodiscard]] bool wants_leaks() const { return settings_.leaks; }
  // Returns the file of the program that runs launches on a real device; empty: none.
  [[nodiscard]] const std::string& launch_worker() const { return settings_.launch_worker; }
  // Files beside this one are deleted when the program and its processes have ended.
  [[nodiscard]] const std::string& records() const { return settings_.records; }

  // Returns PTX of sources that were compiled again: a unit all of whose names are in one of these
  // texts runs that text instead of its own code.
  [[nodiscard]] std::vector<std::string> stand_in_texts() const;
  // Takes note that one of them runs, with these names.
  void stood_in(const std::vector<std::string>& names) {
    stood_in_.insert(names.begin(), names.end());
  }

  void start();
  void found(std::size_t number, const vgpu::Finding& finding);
  void refused(std::string_view reason);
  // Returns the observers that count, and save, what instructions do to memory, in the order in
  // which they are to be called; none: nothing is counted.
  [[nodiscard]] std::vector<vgpu::Observer*> counters() {
    if (!settings_.profile) return {};
    return {&counters_, &counts_saver_};
  }
  // Records something that was not checked, and the reason; each text once.
  void not_checked(std::string_view what);
  // launches_first(): the first launch of a kernel, with so many threads in a block. launched(),
  // printed(): the totals of launches and of printf() texts; kernel: its number, from 0.
  void launches_first(const vgpu::Program& kernel, std::uint32_t threads);
  void launched(std::uint64_t launches, std::uint32_t kernel);
  // The log of this process.
  ExecLog& log();
  void printed(std::uint64_t prints, std::uint64_t hash);
  // Returns whether data that reaches the host is logged; keeps(): whether the bytes of this
  // operation are kept.
  [[nodiscard]] bool logs_host_bytes() const { return settings_.host_bytes; }
  [[nodiscard]] bool keeps(std::uint32_t operation) const;
  // Returns whether what the host hands to the device is logged too.
  [[nodiscard]] bool logs_host_inputs() const { return settings_.host_inputs; }
  // Sets entry.call; call: empty if there is none.
  void came_to_host(Arrival entry, std::string_view call);
  // The same for what the host hands to the device.
  //   asked_at: return address of the call
  void went_to_device(Arrival entry, std::string_view call, const void* asked_at);
  void keep(Arrival::Kind kind, std::uint32_t operation, std::span<const std::byte> part) const;
  // Memory of host and device that is logged, of `allocation` from byte `first` of the entry on.
  void keep_order(std::uint32_t operation, const vgpu::Allocation& allocation, std::uint64_t first);
  // Records findings whose counts have grown, and the end of the process. first: number of the
  // first finding; kernels: Trial::kernels()
  void end(const TrialResult& result, std::vector<std::string> kernels, std::size_t first);

 private:
  explicit ExecSession(ExecSettings settings) : settings_(std::move(settings)) {}
  void append(const ExecRecord& record) const;
  // Writes the PTX of a module, once; returns its file, empty without ExecSettings::code.
  [[nodiscard]] std::string write_code(std::string_view ptx);
  void trace(TrialSettings& trial);
  void end_trace();
  void debug(TrialSettings& trial);
  void end_counts();
  void save_counts() const;
  // Records why the order reaches a byte; no mark: it does not reach its value.
  void record_order(std::optional<std::uint32_t> mark);

  ExecSettings settings_;
  std::optional<ExecLog> log_;
  int log_process_ = 0;  // the process of the log; a child of fork() has its own
  std::set<std::string, std::less<>> not_checked_, stood_in_;
  struct Call {
    std::string_view name;
    const void* asked_at = nullptr;  // null: its place does not count
    friend bool operator==(const Call&, const Call&) = default;
  };
  // Returns the number of its record.
  std::uint32_t number_of(const Call& call);
  // Returns the number of entries of the log; 0: none are logged.
  [[nodiscard]] std::uint64_t arrivals();

  std::vector<Call> calls_;                                   // by the number of their records
  std::uint64_t launches_ = 0, prints_ = 0, print_hash_ = 0;  // latest totals
  std::uint32_t last_kernel_ = 0;                             // its number plus one; 0: none
  std::unique_ptr<vgpu::Strategy> strategy_, logged_strategy_;
  std::unique_ptr<vgpu::Trace> trace_;  // null: nothing is traced
  std::unique_ptr<DebugAgent> agent_;   // null: there is no debugger
  bool is_copy_ = false;                // of the process, made for a debugger
  std::size_t traced_ = 0;              // the number of findings that the trace or the agent has
  // What was recorded of each finding that can still change, by number.
  struct Recorded {
    std::uint64_t count = 0;
    vgpu::Severity severity = vgpu::Severity::error;
    friend bool operator==(const Recorded&, const Recorded&) = default;
  };
  std::vector<Recorded> recorded_;
  vgpu::MemoryCounters counters_;
  CountsSaver counts_saver_{[this] { save_counts(); }};
  std::unique_ptr<vgpu::OrderFlow> order_;  // null: the order is not followed
};

}  // namespace warpcheck::cudart
