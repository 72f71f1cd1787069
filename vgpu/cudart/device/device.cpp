#include "vgpu/cudart/device/device.hpp"

#include <stdexcept>

#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"
#include "vgpu/cudart/exec/exit_report.hpp"

namespace warpcheck::cudart {

void Device::begin_trial(const TrialSettings& settings) {
  if (trial_.in_trial()) throw std::logic_error("begin_trial: a trial is already running");
  if (trial_.in_ambient()) {
    execution_.run_what_is_left();
    keep_for_exit_report(peek_result());
  }
  trial_.begin(settings);
  start();
}

TrialResult Device::end_trial() {
  if (!trial_.in_trial()) throw std::logic_error("end_trial: no trial is running");
  execution_.run_what_is_left();
  flush_prints();
  tell_what_is_left();
  TrialResult result = peek_result();
  trial_.end();
  observers_.clear();
  return result;
}

// Once a launch has died, no call frees anything any more: what is left says nothing.
void Device::tell_what_is_left() const {
  if (!errors_.has_sticky()) allocations_.tell_what_is_left();
}

TrialResult Device::peek_result() const {
  TrialResult result = trial_.result();
  result.findings = findings_.checkers().findings();
  return result;
}

void Device::enter_call() {
  idle_.count_call();
  errors_.begin_call();
  if (trial_.in_trial() || trial_.in_ambient()) return;
  ExecSession* const session = ExecSession::instance();
  TrialSettings settings{.fresh_mapped = vgpu::Fresh::zeros};
  settings.limits.steps_max = vgpu::kNoLimit;
  if (session != nullptr) settings = session->trial_settings();
  const unsigned asked = session != nullptr ? session->device() : 0;
  trial_.begin_ambient(settings, virtual_gpu::capability_of(
                                     asked != 0 ? asked : Registry::instance().newest_target()));
  start();
  print_report_at_exit();
  if (session == nullptr) return;
  findings_.checkers().on_new_finding([this, session](std::size_t number) {
    if (trial_.in_ambient()) session->found(number, findings_.checkers().findings()[number]);
  });
}

TrialResult Device::end_ambient(bool tell_leaks) {
  if (tell_leaks) tell_what_is_left();
  return peek_result();
}

// With the settings of the trial that has begun.
void Device::start() {
  const TrialSettings& settings = trial_.settings();
  memory_.set_capacity(settings.memory_bytes);
  memory_.set_fresh_mapped(settings.fresh_mapped);
  forget_everything();
  errors_.forget_last();
  clock_.reset();
  prints_.clear();
  findings_.checkers().reset(settings.checkers, settings.warp_model);
  observers_.set(findings_.checkers().observers());
  observers_.add(prints_);
  if (settings.extra_observer != nullptr) observers_.add(*settings.extra_observer);
}

void Device::reset() {
  execution_.wait_for_all();
  allocations_.tell_all_freed();
  forget_everything();
}

void Device::forget_everything() {
  findings_.mishaps().clear();
  allocations_.reset();
  execution_.reset();
  arrays_ = {};
  pools_.clear();
  graphs_ = {};
  advice_.clear();
  transfers_.clear();
  arrivals_.reset();
  host_blocks_.clear();
  errors_.forget_sticky();
  limits_.reset();
}

void Device::run_for_idle_host() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !trial_.in_ambient()) return;  // a call is being answered
  try {
    execution_.run_all_for_nobody();
  } catch (const vgpu::Refusal& refusal) {
    errors_.refuse(refusal.what());
    errors_.record(cudaErrorNotSupported);
  }
}

Device& device_of_process() {
  static auto* const device = new Device;
  return *device;
}

void begin_trial(const TrialSettings& settings) {
  with_device([&](Device& device) { device.begin_trial(settings); });
}

TrialResult end_trial() {
  return with_device([](Device& device) { return device.end_trial(); });
}

}  // namespace warpcheck::cudart
