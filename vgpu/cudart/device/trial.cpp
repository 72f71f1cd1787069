#include "vgpu/cudart/device/trial.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <utility>

#include "vgpu/check/reporter.hpp"
#include "vgpu/cudart/device/code_target.hpp"
#include "vgpu/cudart/exec/exec_session.hpp"
#include "vgpu/cudart/launch/print_buffer.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::cudart {

void Trial::start(Phase phase, const TrialSettings& settings,
                  const virtual_gpu::Capability& capability) {
  phase_ = phase;
  settings_ = settings;
  keeps_to_default_ = false;
  capability_ = &capability;
  std::destroy_at(&result_);
  std::construct_at(&result_);  // costs less than an assignment
  launched_.clear();
  launched_hashes_.clear();
}

void Trial::begin(const TrialSettings& settings) {
  start(Phase::trial, settings, virtual_gpu::kTrialCapability);
}

void Trial::begin_ambient(const TrialSettings& settings,
                          const virtual_gpu::Capability& capability) {
  start(Phase::ambient, settings, capability);
}

TrialResult Trial::end() {
  complete(result_);
  settings_.strategy = nullptr;
  settings_.extra_observer = nullptr;
  settings_.on_finding = nullptr;
  phase_ = Phase::ended;
  return std::move(result_);  // start() clears it
}

vgpu::Strategy& Trial::strategy() {
  if (settings_.strategy == nullptr || keeps_to_default_) return default_policy_;
  return *settings_.strategy;
}

ExecSession* Trial::exec_session() const {
  return in_ambient() ? ExecSession::instance() : nullptr;
}

CodeTarget code_target(const Trial& trial) {
  const ExecSession* const session = trial.exec_session();
  return {trial.capability().sm(), session != nullptr && session->device() != 0};
}

void Trial::refuse(std::string_view reason) {
  std::vector<std::string>& known = result_.refusals;
  if (std::ranges::find(known, reason) != known.end()) return;
  known.emplace_back(reason);
  if (in_trial()) return;
  if (ExecSession* const session = ExecSession::instance()) {
    session->refused(reason);
  } else {
    fmt::print(stderr, "warpcheck: refused: {}\n", reason);
  }
}

Trial::LaunchNumber Trial::launch(const vgpu::Program& program, std::uint64_t ptx_hash,
                                  std::uint64_t edited_places, std::uint32_t threads) {
  ExecSession* const session = exec_session();
  const auto known = std::ranges::find_if(launched_, [&](const std::string* name) {
    return name == &program.kernel || *name == program.kernel;
  });
  const LaunchNumber number{static_cast<std::uint32_t>(result_.launches++),
                            static_cast<std::uint32_t>(known - launched_.begin())};
  if (known == launched_.end()) {
    launched_.push_back(&program.kernel);
    launched_hashes_.push_back(ptx_hash);
    result_.edited_places = std::max(result_.edited_places, edited_places);
    if (session != nullptr) session->launches_first(program, threads);
  }
  if (session != nullptr) session->launched(result_.launches, number.kernel);
  return number;
}

void Trial::order_shows(const vgpu::Program& program, const vgpu::OrderSource& source) {
  if (!result_.order_source.empty()) return;
  const vgpu::AccessSide side =
      vgpu::side_at("", {&program, source.pc, Dim3{0, 0, 0}, Dim3{0, 0, 0}});
  const std::string file = side.file.substr(side.file.find_last_of('/') + 1);
  order_shows(fmt::format("{}:{} {} {}", file, side.line, side.ptx, source.what));
}

void Trial::order_shows(std::string_view why) {
  if (result_.order_source.empty()) result_.order_source = why;
}

void Trial::count(const vgpu::Outcome& outcome) {
  result_.steps += outcome.steps;
  result_.lane_steps += outcome.lane_steps;
  std::vector<vgpu::Decision>& decisions = result_.schedule.decisions;
  decisions.insert(decisions.end(), outcome.decisions.begin(), outcome.decisions.end());
}

void Trial::bring_out(PrintBuffer& prints) {
  if (!prints.in_use()) return;
  prints.flush(in_trial() ? &result_.output : nullptr);
  result_.prints_lost = prints.lost();
  ExecSession* const session = exec_session();
  if (session != nullptr) session->printed(prints.prints(), prints.hash());
}

TrialResult Trial::result() const {
  TrialResult result = result_;
  complete(result);
  return result;
}

std::vector<std::string> Trial::kernels() const {
  std::vector<std::string> kernels;
  for (const std::string* const name : launched_) kernels.push_back(*name);
  return kernels;
}

void Trial::complete(TrialResult& result) const {
  result.ptx_hash =
      XXH3_64bits(launched_hashes_.data(), launched_hashes_.size() * sizeof(std::uint64_t));
  result.decisions_ignored = settings_.strategy != nullptr ? settings_.strategy->ignored() : 0;
}

}  // namespace warpcheck::cudart
