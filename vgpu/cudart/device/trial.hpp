// The trial that runs on a device, or the plain program ("ambient") if there is none: its settings,
// its counters, and its output and refusals.
//
// The findings are in findings.hpp.  For a plain program under `warpcheck exec`, the parent process
// is informed as well (exec_session.hpp).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "vgpu/cudart/device/virtual_device.hpp"
#include "vgpu/cudart/device/virtual_gpu.hpp"
#include "vgpu/machine/machine.hpp"
#include "vgpu/program/flow/order_sources.hpp"
#include "vgpu/schedule/default_policy.hpp"

namespace warpcheck::cudart {

class ExecSession;
class PrintBuffer;

class Trial {
 public:
  // Begins a trial; nothing of an earlier trial is kept.
  void begin(const TrialSettings& settings);
  void begin_ambient(const TrialSettings& settings, const virtual_gpu::Capability& capability);
  // Ends the trial and returns its result, without the findings.  Strategy and observer belong to
  // the caller, and may be destroyed from now on.
  TrialResult end();

  [[nodiscard]] bool in_trial() const { return phase_ == Phase::trial; }
  [[nodiscard]] bool in_ambient() const { return phase_ == Phase::ambient; }
  // Returns whether a trial has ended and no call was made since: its memory still exists and may
  // be freed.
  [[nodiscard]] bool has_just_ended() const { return phase_ == Phase::ended; }

  [[nodiscard]] const TrialSettings& settings() const { return settings_; }
  // Returns the capability: the same one in all trials, that of the program in a plain program.
  [[nodiscard]] const virtual_gpu::Capability& capability() const { return *capability_; }
  [[nodiscard]] vgpu::Strategy& strategy();
  // True: launches have the default schedule from now on, until the trial ends.
  void keep_to_default_schedule(bool keep) { keeps_to_default_ = keep; }
  // Not none: launches run these blocks and those at which indices may be wrong
  // (sampled_launches.hpp), until the trial ends or this is called with none.
  void sample(std::optional<std::vector<std::uint32_t>> blocks) { sampled_ = std::move(blocks); }
  [[nodiscard]] const std::optional<std::vector<std::uint32_t>>& sampled() const {
    return sampled_;
  }
  // Returns nullptr in a trial, or if the program does not run under `warpcheck exec`.
  [[nodiscard]] ExecSession* exec_session() const;

  // Records an unsupported operation; each reason is kept once.
  void refuse(std::string_view reason);

  // The numbers of a kernel that is about to run.
  struct LaunchNumber {
    std::uint32_t launch = 0;  // among all launches, from 0
    std::uint32_t kernel = 0;  // among all kernels, in order of their first launch, from 0
  };
  // edited_places: of the program's module; threads: of a block
  LaunchNumber launch(const vgpu::Program& program, std::uint64_t ptx_hash,
                      std::uint64_t edited_places = 0, std::uint32_t threads = 0);
  // Returns the mangled names of the kernels, in the order of their numbers.
  [[nodiscard]] std::vector<std::string> kernels() const;
  // Records that the order of threads, or of device operations, may be visible.
  void order_shows(const vgpu::Program& program, const vgpu::OrderSource& source);
  void order_shows(std::string_view why);
  // Counts a launch that has run.
  void count(const vgpu::Outcome& outcome);
  // Returns the schedule that records decisions about operations of streams.
  vgpu::Schedule& schedule() { return result_.schedule; }

  // Outputs what device code has printed: in a trial to its result, otherwise to stdout and stderr.
  void bring_out(PrintBuffer& prints);

  // Returns the result so far, without the findings.
  [[nodiscard]] TrialResult result() const;

 private:
  enum class Phase : std::uint8_t { fresh, ambient, trial, ended };

  void complete(TrialResult& result) const;
  void start(Phase phase, const TrialSettings& settings, const virtual_gpu::Capability& capability);

  Phase phase_ = Phase::fresh;
  TrialSettings settings_;
  const virtual_gpu::Capability* capability_ = &virtual_gpu::kTrialCapability;
  vgpu::DefaultPolicy default_policy_;
  bool keeps_to_default_ = false;
  std::optional<std::vector<std::uint32_t>> sampled_;
  TrialResult result_;
  // TrialResult::kernels, and hashes of their texts.  Programs live as long as the process.
  std::vector<const std::string*> launched_;
  std::vector<std::uint64_t> launched_hashes_;
};

}  // namespace warpcheck::cudart
