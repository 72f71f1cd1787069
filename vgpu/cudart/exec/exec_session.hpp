// This process under `warpcheck exec`: the settings that it was given, and its records.
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

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/exec/exec_log.hpp"
#include "vgpu/cudart/exec/exec_records.hpp"

namespace warpcheck::cudart {

class ExecSession {
 public:
  // nullptr: this process does not run under `warpcheck exec`.  Made at first use.
  static ExecSession* instance();

  // What the device runs with outside of trials.
  [[nodiscard]] TrialSettings trial_settings();
  // The compute capability that was asked for, 90 for sm_90; 0: the program's own.
  [[nodiscard]] unsigned device() const { return settings_.device; }
  [[nodiscard]] bool wants_leaks() const { return settings_.leaks; }
  // Files beside this one are gone when the program and its processes have ended.
  [[nodiscard]] const std::string& records() const { return settings_.records; }

  void start();
  void found(std::size_t number, const vgpu::Finding& finding);
  void refused(std::string_view reason);
  // Something that was not looked at, and why; each is told once.
  void not_checked(std::string_view what);
  // The first launch of a kernel; a launch, of so many; texts of printf(), of so many.
  void launches_first(const vgpu::Program& kernel);
  void launched(std::uint64_t launches);
  // Of this process.
  ExecLog& log();
  void printed(std::uint64_t prints, std::uint64_t hash);
  // Whether what comes to the host is to be logged, and the bytes of this operation to be kept.
  [[nodiscard]] bool logs_host_bytes() const { return settings_.host_bytes; }
  [[nodiscard]] bool keeps(std::uint32_t operation) const;
  // entry.call is set here; call: empty where there is none.
  void came_to_host(Arrival entry, std::string_view call);
  void keep(Arrival::Kind kind, std::uint32_t operation, std::span<const std::byte> part) const;
  // Findings whose counts have grown since they were recorded, and the end.
  void end(const TrialResult& result);

 private:
  explicit ExecSession(ExecSettings settings) : settings_(std::move(settings)) {}
  void append(const ExecRecord& record) const;

  ExecSettings settings_;
  std::optional<ExecLog> log_;
  int log_process_ = 0;  // whose log that is: a child of fork() has its own
  std::set<std::string, std::less<>> not_checked_;
  std::vector<std::string_view> calls_;  // as named in the records
  std::unique_ptr<vgpu::Strategy> strategy_;
  std::vector<std::uint64_t> counts_;  // as recorded, by number
};

}  // namespace warpcheck::cudart
