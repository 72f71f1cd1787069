#include "harness/trial/trial.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "harness/pair/device.hpp"
#include "harness/pair/expectations.hpp"
#include "harness/pair/source_path.hpp"
#include "harness/trial/determinism.hpp"
#include "harness/trial/rounding.hpp"
#include "harness/trial/watched_run.hpp"
#include "vgpu/schedule/default_policy.hpp"
#include "vgpu/schedule/replay.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck {
namespace {

// For a case whose schedule is not the default one.
std::unique_ptr<vgpu::Strategy> strategy_of(const Case& a_case, vgpu::ReadsFromSeen& seen) {
  if (const auto* choice = std::get_if<StrategyChoice>(&a_case.schedule)) {
    return vgpu::make_strategy(choice->name, choice->seed, &seen);
  }
  return std::make_unique<vgpu::Replay>(std::get<vgpu::Schedule>(a_case.schedule));
}

// A finding of the harness about the pair (or its property), without a source line.
vgpu::Finding harness_finding(vgpu::FindingKind kind, const Case& a_case, std::string message) {
  vgpu::Finding finding;
  finding.kind = kind;
  finding.kernel = a_case.title();
  finding.message = std::move(message);
  return finding;
}

// The reason why there is no output, or why a property failed.
vgpu::Finding failed_finding(const Case& a_case, const std::string& failure, bool call_failed) {
  vgpu::Finding finding = harness_finding(vgpu::FindingKind::mismatch, a_case, failure);
  if (call_failed) finding.lack = vgpu::Lack::output;
  return finding;
}

// Failed expectations contain the absolute path of compilation.
std::string relative_failure(const std::string& failure) {
  const std::size_t colon = failure.find(':');
  if (colon == std::string::npos) return failure;
  return repository_path(failure.substr(0, colon)) + failure.substr(colon);
}

std::optional<std::string> run_property(const Case& a_case) {
  const PropertyEntry* property = a_case.pair->find_property(a_case.property);
  if (property == nullptr) {
    throw std::logic_error(fmt::format("no property '{}'", a_case.title()));
  }
  std::vector<std::string> failures;
  if (capture_expectations([&] { property->body(a_case.input); }, failures)) return std::nullopt;
  return failures.empty() ? "the property failed" : relative_failure(failures.front());
}

Verdict verdict_of(TrialResult&& result) {
  Verdict verdict{.findings = std::move(result.findings),
                  .schedule = std::move(result.schedule),
                  .launches = result.launches,
                  .steps = result.steps,
                  .lane_steps = result.lane_steps,
                  .decisions_ignored = result.decisions_ignored,
                  .ptx_hash = result.ptx_hash,
                  .refusals = std::move(result.refusals),
                  .order_source = std::move(result.order_source),
                  .edited_places = result.edited_places};
  for (vgpu::Finding& finding : verdict.findings) {
    for (vgpu::AccessSide& side : finding.accesses) {
      side.rename_files(repository_path);
    }
  }
  return verdict;
}

// Races must be looked for between all threads: the lockstep model orders threads that other
// schedules do not.
bool all_checkers_watch(const Settings& settings) {
  return settings.warp_model == vgpu::WarpModel::independent &&
         std::ranges::all_of(vgpu::kCheckers, [&](const vgpu::CheckerRow& row) {
           return !row.by_default || settings.checkers.*row.enabled;
         });
}

// Adds the findings of the run under the default schedule that this one did not have.
void add_what_is_new(const Verdict& by_default, Verdict& verdict) {
  const auto is_known = [&](const vgpu::Finding& finding) {
    return std::ranges::any_of(verdict.findings, [&](const vgpu::Finding& known) {
      return known.severity == finding.severity && vgpu::class_of(known) == vgpu::class_of(finding);
    });
  };
  for (vgpu::Finding finding : by_default.findings) {
    if (is_known(finding)) continue;
    finding.message += "; under the default schedule, with which the output is compared";
    verdict.findings.push_back(std::move(finding));
  }
  verdict.refusals = by_default.refusals;  // this run had none
}

}  // namespace

void TrialClock::begin_trial(std::uint64_t number) {
  const bool is_timed = number <= kTimedAll || number % kTimedOneIn == 0;
  weight_ = !is_timed ? 0 : number <= kTimedAll ? 1 : kTimedOneIn;
  if (is_timed) at_ = std::chrono::steady_clock::now();
}

void TrialClock::end_part(double& seconds) {
  if (weight_ == 0) return;
  const auto now = std::chrono::steady_clock::now();
  seconds += static_cast<double>(weight_) * std::chrono::duration<double>(now - at_).count();
  at_ = now;
}

Verdict TrialRunner::run(const Case& a_case) {
  if (searched_ != a_case.pair) {
    searched_ = a_case.pair;
    seen_ = {};
  }
  if (const auto* const schedule = std::get_if<vgpu::Schedule>(&a_case.schedule);
      schedule != nullptr && schedule->decisions.empty()) {
    vgpu::DefaultPolicy policy;
    return run(a_case, policy);
  }
  const auto strategy = strategy_of(a_case, seen_);
  const bool is_search = std::holds_alternative<StrategyChoice>(a_case.schedule);
  return is_search ? run_for_search(a_case, *strategy) : run(a_case, *strategy);
}

Verdict TrialRunner::run_for_search(const Case& a_case, vgpu::Strategy& strategy) {
  if (auto verdict = run_for_every_schedule(a_case)) return *std::move(verdict);
  return run(a_case, strategy);
}

Verdict TrialRunner::run(const Case& a_case, vgpu::Strategy& strategy) {
  begin(a_case);
  Attempt made = attempt(a_case, strategy);
  Verdict verdict = verdict_of(std::move(made.result));
  judge_output(a_case, made, verdict);
  verdict.for_every_schedule =
      all_checkers_watch(a_case.settings) && verdict.holds_for_every_schedule();
  shows_order_ = verdict.launches == 0 || !verdict.order_source.empty();
  return verdict;
}

// Drops what is cached for another input.
void TrialRunner::begin(const Case& a_case) {
  const bool is_known = pair_ == a_case.pair && input_ == a_case.input;
  if (is_known && same_settings(settings_, a_case.settings)) return;
  const bool same_code =
      settings_.build == a_case.settings.build && same_edits(settings_, a_case.settings);
  if (pair_ != a_case.pair || !same_code) shows_order_ = true;
  const bool is_of_build = a_case.pair->reference_kernel() != nullptr;
  if (!is_known || is_of_build) reference_ = nullptr;
  pair_ = a_case.pair;
  input_ = a_case.input;
  settings_ = a_case.settings;
  default_run_.reset();
  tried_default_ = false;
}

// The run under the default schedule, if it holds for every schedule.
std::optional<Verdict> TrialRunner::run_for_every_schedule(const Case& a_case) {
  begin(a_case);
  if (shows_order_ || tried_default_ || !all_checkers_watch(a_case.settings)) return std::nullopt;
  tried_default_ = true;
  vgpu::DefaultPolicy policy;
  Attempt made = attempt(a_case, policy);
  Verdict verdict = verdict_of(std::move(made.result));
  judge_output(a_case, made, verdict);
  verdict.for_every_schedule = verdict.holds_for_every_schedule();
  if (!verdict.for_every_schedule) return std::nullopt;
  return verdict;
}

TrialRunner::Attempt TrialRunner::attempt(const Case& a_case, vgpu::Strategy& strategy) {
  ++trials_;
  const TrialSettings settings{.build = a_case.settings.build,
                               .warp_model = a_case.settings.warp_model,
                               .checkers = a_case.settings.checkers,
                               .limits = a_case.settings.limits,
                               .strategy = &strategy,
                               .edits = a_case.settings.edits};
  AnyOutput output;
  std::optional<std::string> failure;
  bool call_failed = false;
  const std::uint64_t evaluated_before = expectations_evaluated();
  clock_.begin_trial(trials_);
  TrialResult result = engine_.run(settings, [&] {
    try {
      if (a_case.property.empty()) {
        output = a_case.pair->run_kernel(a_case.input);
      } else {
        failure = run_property(a_case);
      }
    } catch (const CudaError& error) {
      failure = fmt::format("no output: {}", error.what());
      call_failed = true;
    } catch (const std::exception& error) {
      failure = fmt::format("threw: {}", error.what());
    }
  });
  clock_.end_part(seconds_.kernel);
  if (settings.edits != nullptr && result.edited_places == 0 && result.launches != 0) {
    result.refusals.emplace_back("the edits change no instruction of the launched kernels");
  }
  return {.result = std::move(result),
          .expectations = expectations_evaluated() - evaluated_before,
          .output = std::move(output),
          .failure = std::move(failure),
          .call_failed = call_failed};
}

void TrialRunner::judge_output(const Case& a_case, const Attempt& made, Verdict& verdict) {
  // A refused launch did not run: its output says nothing about the kernel.
  if (!verdict.refusals.empty()) return;
  const auto add = [&](vgpu::FindingKind kind, std::string message) {
    verdict.findings.push_back(harness_finding(kind, a_case, std::move(message)));
  };
  verdict.claims = made.expectations;
  // A call that failed because of a finding (a trap, a deadlock) is not reported again.
  if (made.failure && !(verdict.failed() && a_case.property.empty())) {
    verdict.findings.push_back(failed_finding(a_case, *made.failure, made.call_failed));
  }
  if (made.output == nullptr) return;
  std::optional<std::string> wrong;
  if (a_case.pair->has_reference()) {
    const AnyOutput& reference = reference_of(a_case);
    if (reference == nullptr) {
      return add(vgpu::FindingKind::mismatch,
                 fmt::format("the kernel that is the reference is not clean: {}", no_reference_));
    }
    if (!a_case.pair->compares_nothing(made.output, reference)) verdict.claims = 1;
    wrong = a_case.pair->rounding()
                ? rounding_difference(a_case, made.output, reference, verdict.schedule, engine_)
                : a_case.pair->difference(a_case.input, made.output, reference);
  } else {
    verdict.claims = 1;  // that the kernel shows no finding
  }
  const bool agrees = !wrong;
  if (wrong) add(vgpu::FindingKind::mismatch, std::move(*wrong));
  if (verdict.schedule.decisions.empty()) return;
  if (!a_case.pair->wants_schedule_comparison(agrees)) return;
  // The default schedule is known to give the same bytes, without running it.
  if (all_checkers_watch(a_case.settings) && verdict.holds_for_every_schedule()) return;
  const DefaultRun& other = default_run_of(a_case);
  add_what_is_new(other.verdict, verdict);
  if (other.output == nullptr || !verdict.refusals.empty()) return;
  if (auto difference = a_case.pair->schedule_difference(made.output, other.output)) {
    add(vgpu::FindingKind::schedule_dependent, std::move(*difference));
    explain_schedule_dependence(a_case, verdict, verdict.findings.back());
  }
}

void TrialRunner::explain_schedule_dependence(const Case& a_case, const Verdict& verdict,
                                              vgpu::Finding& finding) {
  vgpu::OrderReason order = find_order_reason(a_case, verdict.schedule, engine_);
  finding.accesses = std::move(order.sides);
  if (!order.text.empty()) finding.message += "; " + order.text;
  if (const auto spread = spread_over_schedules(a_case, verdict.schedule, verdict.steps, engine_)) {
    finding.message += "; " + text_of(*spread);
  }
}

const AnyOutput& TrialRunner::reference_of(const Case& a_case) {
  if (reference_ == nullptr && a_case.pair->reference_kernel() != nullptr) {
    WatchedRun run = run_reference_kernel(a_case, for_references_);
    reference_ = std::move(run.output);
    no_reference_ = std::move(run.error);
    clock_.end_part(seconds_.reference);
  } else if (reference_ == nullptr) {
    reference_ = a_case.pair->run_reference(a_case.input);
    clock_.end_part(seconds_.reference);  // it runs right after the attempt
  }
  return reference_;
}

const TrialRunner::DefaultRun& TrialRunner::default_run_of(const Case& a_case) {
  if (!default_run_) {
    vgpu::DefaultPolicy policy;
    Attempt made = attempt(a_case, policy);
    default_run_.emplace(DefaultRun{made.output, verdict_of(std::move(made.result))});
    Verdict& verdict = default_run_->verdict;
    if (made.failure && !verdict.failed()) {
      verdict.findings.push_back(failed_finding(a_case, *made.failure, made.call_failed));
    }
  }
  return *default_run_;
}

}  // namespace warpcheck
