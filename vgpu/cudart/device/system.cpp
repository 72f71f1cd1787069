#include "vgpu/cudart/device/system.hpp"

#include <link.h>
#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>

#include "vgpu/cudart/api/calls/api_call.hpp"
#include "vgpu/cudart/code/registry.hpp"
#include "vgpu/cudart/device/device.hpp"
#include "vgpu/cudart/device/exit_report.hpp"
#include "vgpu/cudart/device/runtime_use.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"
#include "vgpu/cudart/exec/sampled_launches.hpp"
#include "vgpu/cudart/memory/host_memory.hpp"

namespace warpcheck::cudart {
namespace {

// The target of programs that load all their kernels at run time: they query the device and compile
// for it.
constexpr unsigned kTargetOfLoadedCode = 90;

// Returns whether the program may load kernels: it has loaded the library of the driver or of the
// compiler.
bool can_load_code() {
  const auto visit = [](dl_phdr_info* library, std::size_t, void*) {
    const std::string_view path = library->dlpi_name;
    const std::string_view name = path.substr(path.rfind('/') + 1);
    return name.starts_with("libcuda.so") || name.starts_with("libnvrtc.") ? 1 : 0;
  };
  return ::dl_iterate_phdr(visit, nullptr) != 0;
}

// Returns whether any array or object was created; most programs have none.
bool are_used(const Arrays& arrays) {
  return !arrays.arrays.empty() || !arrays.mipmapped.empty() || arrays.next_object != 1;
}
bool are_used(const Graphs& graphs) {
  return !graphs.graphs.empty() || !graphs.executable.empty() || !graphs.objects.empty() ||
         !graphs.to_end.empty() || !graphs.conditionals.empty() || graphs.next_capture != 1 ||
         graphs.next_conditional != 1;
}

unsigned target_of_program() {
  const unsigned newest = Registry::instance().newest_target();
  return newest == 0 && can_load_code() ? kTargetOfLoadedCode : newest;
}

}  // namespace

DeviceStates System::first_of(const DeviceState::Shared& shared) {
  DeviceStates devices;
  devices.emplace_back(shared, 0);
  return devices;
}

Device System::device(unsigned number) { return {*this, devices_[number]}; }

void System::begin_trial(const TrialSettings& settings) {
  if (trial_.in_trial()) throw std::logic_error("begin_trial: a trial is already running");
  if (trial_.in_ambient()) {
    execution_.run_what_is_left();
    keep_for_exit_report(peek_result());
  }
  visible_ = {};
  trial_.begin(settings);
  start();
  if (!settings.on_finding) return;
  findings_.checkers().on_new_finding([this](std::size_t number) {
    const auto& on_finding = trial_.settings().on_finding;
    if (on_finding) on_finding(findings_.checkers().findings()[number]);
  });
}

TrialResult System::end_trial() {
  if (!trial_.in_trial()) throw std::logic_error("end_trial: no trial is running");
  execution_.run_what_is_left();
  flush_prints();
  report_what_is_left();
  TrialResult result = trial_.end();
  result.findings = findings_.checkers().findings();
  observers_.clear();
  return result;
}

// After a launch has failed fatally, no call can free anything, so leaks mean nothing.
void System::report_what_is_left(const Allocations::IsMeant& is_meant) const {
  const bool died =
      std::ranges::any_of(devices_, [](const DeviceState& one) { return one.errors.has_sticky(); });
  if (!died) address_space_.report_what_is_left(is_meant);
}

TrialResult System::peek_result() const {
  TrialResult result = trial_.result();
  const std::vector<vgpu::Finding>& all = findings_.checkers().findings();
  result.findings.assign(all.begin() + static_cast<std::ptrdiff_t>(findings_of_parent()),
                         all.end());
  if (device_was_used_before_fork()) result.launches = 0;
  return result;
}

std::size_t System::findings_of_parent() const {
  const std::size_t all = findings_.checkers().findings().size();
  return device_was_used_before_fork() ? std::min(first_after_fork_, all) : 0;
}

void System::enter_call(DeviceState& device) {
  idle_.count_call();
  device.errors.begin_call();
  if (trial_.in_ambient()) {
    findings_.mishaps().perform(current_call().return_address);
    execution_.report_host_accesses();
  }
  if (trial_.in_trial() || trial_.in_ambient()) return;
  ExecSession* const session = ExecSession::instance();
  TrialSettings settings{.bounded_by_host = true, .fresh_mapped = vgpu::Fresh::zeros};
  settings.limits.steps_max = vgpu::kNoLimit;
  if (session != nullptr) settings = session->trial_settings();
  visible_ = devices_of_process();
  settings.devices = std::max(1u, static_cast<unsigned>(visible_.numbers.size()));
  if (session != nullptr && visible_.error != cudaSuccess)
    session->not_checked(text_of_no_device());
  const unsigned asked = session != nullptr ? session->device() : 0;
  trial_.begin_ambient(settings,
                       virtual_gpu::capability_of(asked != 0 ? asked : target_of_program()));
  start();
  host_accesses_.watch_device_memory(
      [] { with_device([](Device& current) { current.execution().report_host_accesses(); }); });
  findings_.mishaps().perform(current_call().return_address);
  print_report_at_exit();
  findings_.checkers().on_new_finding([this, session](std::size_t number) {
    if (!trial_.in_ambient()) return;
    if (device_was_used_before_fork()) first_after_fork_ = std::min(first_after_fork_, number);
    if (session != nullptr) session->found(number, findings_.checkers().findings()[number]);
  });
}

TrialResult System::end_ambient(bool report_leaks) {
  if (device_was_used_before_fork()) return peek_result();
  // Checkers that report at the end hear of it in any case.
  report_what_is_left([&](const vgpu::Allocation&) { return report_leaks; });
  TrialResult result = peek_result();
  for (const std::size_t finding : last_errors_.unasked()) raise_unasked(result.findings[finding]);
  return result;
}

// Starts the system with the settings of the trial that has begun.
void System::start() {
  const TrialSettings& settings = trial_.settings();
  forget_everything();
  memory_.set_capacity(settings.bounded_by_host ? device_memory_of_host() : settings.memory_bytes);
  memory_.set_fresh_mapped(settings.fresh_mapped);
  execution_.queues().order_all(settings.supposed.one_stream);
  execution_.queues().order_nodes(settings.supposed.ordered_nodes);
  memory_.set_two_views(host_accesses_.are_watched());
  memory_.set_devices(settings.devices);
  while (count() > settings.devices) devices_.pop_back();
  while (count() < settings.devices) devices_.emplace_back(shared_, count());
  last_errors_.clear();
  clock_.reset();
  prints_.clear();
  copy_sides_.check_host_memory(trial_.in_ambient());
  findings_.checkers().reset(settings.checkers, settings.warp_model);
  std::array<vgpu::Observer*, 4> others{&prints_};
  std::size_t count = 1;
  if (trial_.exec_session() != nullptr) others[count++] = &progress_;
  if (settings.jobs > 1) others[count++] = &kernels_.machines();
  if (host_accesses_.are_watched()) others[count++] = &host_accesses_.signals();
  observers_.set(findings_.checkers(), std::span(others).first(count));
  if (settings.extra_observer != nullptr) observers_.add(*settings.extra_observer);
  if (ExecSession* const session = trial_.exec_session()) {
    for (vgpu::Observer* const counter : session->counters()) observers_.add(*counter);
  }
  for (vgpu::Observer* const observer : watching_) observers_.add(*observer);
}

void System::sample(std::optional<std::vector<std::uint32_t>> blocks, std::uint64_t memory_bytes) {
  trial_.sample(std::move(blocks));
  memory_.set_capacity(std::max(memory_bytes, trial_.settings().memory_bytes));
}

void System::watch(vgpu::Observer& observer) {
  watching_.push_back(&observer);
  if (trial_.in_trial() || trial_.in_ambient()) observers_.add(observer);
}

void System::unwatch(vgpu::Observer& observer) {
  std::erase(watching_, &observer);
  observers_.remove(observer);
}

void System::report_leaks(const Allocations::IsMeant& is_meant) const {
  const ExecSession* const session = trial_.exec_session();
  if (trial_.in_ambient() && session != nullptr && session->wants_leaks()) {
    report_what_is_left(is_meant);
  }
}

// If there is only one device, nothing remains, and addresses are reused.  If there are several,
// the others may still refer to the memory, so it is freed.
void System::reset(DeviceState& device) {
  execution_.wait_for_device(device.number);
  report_leaks(
      [&](const vgpu::Allocation& allocation) { return allocation.device == device.number; });
  if (count() == 1) {
    device.allocations.notify_all_freed();
    forget_everything();
    return;
  }
  virtual_memory_.forget(device.number);
  device.allocations.free_all();
  execution_.forget_streams_of(device.number);
  pools_.forget(device.number);
  device.errors.forget_sticky();
  device.limits.reset();
  device.peers = device.flags = 0;
}

void System::forget_everything() {
  findings_.mishaps().clear();
  host_accesses_.forget_all();
  memory_.reset();
  allocations_.clear();
  execution_.reset();
  if (are_used(arrays_)) arrays_ = {};
  pools_.clear();
  virtual_memory_.clear();
  process_memory_.clear();
  if (are_used(graphs_)) graphs_ = {};
  advice_.clear();
  transfers_.clear();
  values_.clear();
  ahead_.forget();
  arrivals_.reset();
  host_blocks_.clear();
  for (DeviceState& device : devices_) {
    device.allocations.begin_generation();
    device.errors.forget_sticky();
    device.limits.reset();
    device.peers = device.flags = 0;
  }
}

void System::for_idle_host(void (Execution::*run)()) {
  const InEngine in_engine;
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !trial_.in_ambient()) return;  // another thread is in a call
  try {
    (execution_.*run)();
  } catch (const vgpu::Refusal& refusal) {
    devices_.front().errors.refuse(refusal.what());
    last_errors_.set_for_anybody(cudaErrorNotSupported);
  }
}

// The forking thread may be in a call: a debugger's copy goes on with it.
void System::leave_calls_to_parent() {
  if (!InEngine::is_this_thread()) std::construct_at(&mutex_);
}

System& system_of_process() {
  static auto* const system = [] {
    auto* const made = new System;
    ::pthread_atfork(nullptr, nullptr, [] { system_of_process().leave_calls_to_parent(); });
    return made;
  }();
  return *system;
}

void begin_trial(const TrialSettings& settings) {
  with_device([&](Device& device) { device.system().begin_trial(settings); });
}

TrialResult end_trial() {
  return with_device([](Device& device) { return device.system().end_trial(); });
}

Watch::Watch(vgpu::Observer& observer) : observer_(observer) {
  system_of_process().watch(observer_);
}

Watch::~Watch() { system_of_process().unwatch(observer_); }

DefaultSchedule::DefaultSchedule() {
  with_device([](Device& device) { device.system().trial().keep_to_default_schedule(true); });
}

DefaultSchedule::~DefaultSchedule() {
  with_device([](Device& device) { device.system().trial().keep_to_default_schedule(false); });
}

SampledLaunches::SampledLaunches(std::vector<std::uint32_t> blocks, std::uint64_t memory_bytes) {
  with_device([&](Device& device) { device.system().sample(std::move(blocks), memory_bytes); });
}

SampledLaunches::~SampledLaunches() {
  with_device([](Device& device) { device.system().sample(std::nullopt, 0); });
}

void record_calls(CallLog* log) {
  with_device([&](Device& device) { device.recording().set_log(log); });
}

std::vector<std::string> launched_kernels() {
  return with_device([](Device& device) { return device.trial().kernels(); });
}

}  // namespace warpcheck::cudart
