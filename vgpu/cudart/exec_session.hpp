// This process under `warpcheck exec`: the settings that it was given, and its records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "vgpu/cudart/exec_records.hpp"
#include "vgpu/cudart/virtual_device.hpp"

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

  void start();
  void found(std::size_t number, const vgpu::Finding& finding);
  void refused(std::string_view reason);
  // The loaded libraries that the virtual GPU cannot take the place of: opened since the start.
  void name_unsupported_libraries();
  // Findings whose counts have grown since they were recorded, and the end.
  void end(const TrialResult& result);

 private:
  explicit ExecSession(ExecSettings settings) : settings_(std::move(settings)) {}
  void append(const ExecRecord& record) const;

  ExecSettings settings_;
  std::unique_ptr<vgpu::Strategy> strategy_;
  std::vector<std::uint64_t> counts_;  // as recorded, by number
};

}  // namespace warpcheck::cudart
