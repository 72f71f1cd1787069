// The trial that runs on a device, or the plain program ("ambient") where there is none: its
// settings, what is counted of it, and its text and refusals.
//
// Findings are in findings.hpp.  Of a plain program under `warpcheck exec`, that process is told as
// well (exec_session.hpp).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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
  // Nothing is kept of what was before.
  void begin(const TrialSettings& settings);
  void begin_ambient(const TrialSettings& settings, const virtual_gpu::Capability& capability);
  // Its result, without the findings.  Strategy and observer belong to the caller and may be gone
  // from now on.
  TrialResult end();

  [[nodiscard]] bool in_trial() const { return phase_ == Phase::trial; }
  [[nodiscard]] bool in_ambient() const { return phase_ == Phase::ambient; }
  // A trial has ended and nothing was called since: its memory is still there to be freed.
  [[nodiscard]] bool has_just_ended() const { return phase_ == Phase::ended; }

  [[nodiscard]] const TrialSettings& settings() const { return settings_; }
  // Of trials the one that all have; of a plain program its own.
  [[nodiscard]] const virtual_gpu::Capability& capability() const { return *capability_; }
  [[nodiscard]] vgpu::Strategy& strategy();
  // nullptr: not under `warpcheck exec`, or in a trial.
  [[nodiscard]] ExecSession* exec_session() const;

  // What cannot be done; each reason is kept once.
  void refuse(std::string_view reason);

  // A kernel is about to run.
  struct LaunchNumber {
    std::uint32_t launch = 0;  // among all launches, from 0
    std::uint32_t kernel = 0;  // among all kernels, in order of their first launch, from 0
  };
  LaunchNumber launch(const vgpu::Program& program, std::uint64_t ptx_hash);
  // Where the order of threads, or of work of the device, can show.
  void order_shows(const vgpu::Program& program, const vgpu::OrderSource& source);
  void order_shows(std::string_view why);
  // It has run.
  void count(const vgpu::Outcome& outcome);
  // Where decisions about operations of streams are recorded.
  vgpu::Schedule& schedule() { return result_.schedule; }

  // Brings out what device code has printed: in a trial to its result, else to stdout and stderr.
  void bring_out(PrintBuffer& prints);

  // So far, without the findings.
  [[nodiscard]] TrialResult result() const;

 private:
  enum class Phase : std::uint8_t { fresh, ambient, trial, ended };

  [[nodiscard]] TrialResult complete(TrialResult result) const;
  void start(Phase phase, const TrialSettings& settings, const virtual_gpu::Capability& capability);

  Phase phase_ = Phase::fresh;
  TrialSettings settings_;
  const virtual_gpu::Capability* capability_ = &virtual_gpu::kTrialCapability;
  vgpu::DefaultPolicy default_policy_;
  TrialResult result_;
  // TrialResult::kernels, and hashes of their texts.  Programs stay as long as the process.
  std::vector<const std::string*> launched_;
  std::vector<std::uint64_t> launched_hashes_;
};

}  // namespace warpcheck::cudart
