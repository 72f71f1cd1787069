#include "cli/exec/program_causes.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <variant>

#include "cli/exec/code_of_kernels.hpp"
#include "cli/exec/program_experiments.hpp"
#include "cli/exec/run_output.hpp"
#include "harness/causes/cause_search.hpp"
#include "harness/trial/schedule_search.hpp"

namespace warpcheck {
namespace {

// Under how many of the schedules that a search tries first a change has to help, too.
constexpr std::uint64_t kSchedulesOfProgram = 4;
// Of one launch with a change, besides four times as many as the run has: few where threads wait
// for ever.
constexpr std::uint64_t kStepsOfHang = 10'000;
// Steps count what kernels do.  What a program does elsewhere is not counted, so time is a limit,
// too, as for a run itself: of one copy, and of all together, besides as much as the run took.  A
// small program, of which the steps allow some 40 copies, has ended them before on a busy machine.
constexpr double kSecondsMore = 10, kTimesAsLong = 10, kSecondsOfAll = 5;

bool has_ended_well(const ProgramRun& run) {
  return run.ended && !run.timed_out && run.signal == 0;
}

class ProgramCauses final : public CauseSearch {
 public:
  ProgramCauses(const ExplainedRun& explained, Supervisor& supervisor, ProgramRunner& runner,
                std::uint64_t steps)
      : CauseSearch(explained.findings, steps + explained.steps_max),
        explained_(explained),
        steps_(steps),
        experiments_(supervisor, runner, kTimesAsLong * explained.seconds + kSecondsMore,
                     explained.cpu_seconds + kSecondsOfAll) {
    only_bounds_ = std::ranges::all_of(explained.findings, [](const vgpu::Finding& finding) {
      return finding.kind == vgpu::FindingKind::out_of_bounds;
    });
  }

  Causes run() {
    if (explained_.steps_max < steps_ + 2 * kStepsOfCopy)
      return no_experiments("a second run would take more steps than they may");
    const std::optional<Seen> plain = see({}, nullptr);
    if (!plain) return no_experiments(experiments_.why());
    std::set<std::string> keys = keys_of(explained_.findings);
    for (const std::string& key : keys) {
      if (!plain->keys.contains(key))
        return no_experiments("the program, run again, does not show the same findings");
    }
    std::ranges::set_difference(plain->keys, keys, std::inserter(known_, known_.end()));
    plain_ = *plain;
    const CodeOfKernels code(plain->run);
    text_bytes_ = code.bytes();
    Causes causes = CauseSearch::run(
        changes_for(explained_.findings, code.kernels(), plain_.status != 0 || only_bounds_));
    causes.why_ended = experiments_.why();
    for (HelpfulChange& change : causes.found) change.is_of_program = true;
    return causes;
  }

 private:
  // What a run has shown.
  struct Seen {
    ProgramRun run;
    Findings findings;
    std::set<std::string> keys;
    int status = 0;
    std::uint64_t launches = 0;
    bool ends = false;  // regularly
  };

  static bool has_end(const ProgramRun& run) {
    return std::ranges::any_of(run.records, [](const cudart::ExecRecord& record) {
      return std::holds_alternative<cudart::EndRecord>(record.what);
    });
  }

  // Whether a place of the host is looked up for them.
  static bool names_host_code(const Findings& findings) {
    return std::ranges::any_of(findings, [](const vgpu::Finding& finding) {
      return std::ranges::any_of(finding.accesses,
                                 [](const auto& side) { return side.ptx.empty(); });
    });
  }

  static Causes no_experiments(std::string why) {
    Causes causes;
    causes.why_not = std::move(why);
    return causes;
  }

  //   schedule: null: that of the run
  std::optional<Seen> see(const Change& change, const StrategyChoice* schedule) {
    cudart::ExecSettings settings = settings_of_experiment(explained_.settings);
    settings.host_bytes = only_bounds_ || change.is_of_access;
    settings.edits = change.edits;
    settings.supposed = change.supposed;
    settings.code = plain_.launches == 0;
    settings.host_lines = names_host_code_;
    settings.findings_at_end = plain_.ends;
    settings.steps_max = std::min(settings.steps_max, 4 * steps_ + kStepsOfHang);
    if (schedule != nullptr) {
      settings.strategy = schedule->name;
      settings.seed = schedule->seed;
    }
    std::optional<ProgramRun> run = experiments_.run(std::move(settings));
    if (!run) return std::nullopt;
    ProgramReport report(ExpectedFindings(), "");
    report.add(*run);
    pay(report.warp_instructions() + kStepsOfCopy + text_bytes_ / kBytesOfStep);
    if (!report.refusals.empty() || !report.deaths.empty()) return std::nullopt;
    Seen seen{.status = run->status, .launches = report.launches, .ends = has_end(*run)};
    if (plain_.ends && !seen.ends) return std::nullopt;  // what it found is not known
    for (ProgramReport::Found& found : report.findings) {
      // Memory that is never freed is what was supposed.
      if (change.supposed.late_frees && found.finding.kind == vgpu::FindingKind::leak) continue;
      if (known_.contains(key_of(found.finding))) continue;
      seen.findings.push_back(std::move(found.finding));
    }
    names_host_code_ = names_host_code_ || names_host_code(seen.findings);
    seen.keys = keys_of(seen.findings);
    seen.run = *std::move(run);
    return seen;
  }

  // Whether the program has done what it does without the change, or more.
  [[nodiscard]] bool is_as_good(const Change& change, const Seen& seen) const {
    if (seen.status != 0 && (change.is_of_values || seen.status != plain_.status)) return false;
    if (seen.status != 0 && seen.launches < plain_.launches) return false;
    return !only_bounds_ || plain_.status != 0 ||
           differences(output_of(plain_.run), output_of(seen.run)).empty();
  }

  std::optional<Findings> findings_with(const Change& change) override {
    if (budget() < steps_ + kStepsOfCopy) pay(budget());
    if (budget() == 0) return std::nullopt;
    std::optional<Seen> seen = see(change, nullptr);
    if (!seen || !is_as_good(change, *seen)) return std::nullopt;
    return std::move(seen->findings);
  }

  bool holds(const Change& change, const std::set<std::string>& removed) override {
    std::optional<RunOutput> first;
    for (std::uint64_t i = 0; i < kSchedulesOfProgram; ++i) {
      if (budget() < steps_ + kStepsOfCopy) return i != 0;
      const StrategyChoice schedule = policy(i);
      const std::optional<Seen> seen = see(change, &schedule);
      if (!seen && experiments_.took_too_long()) return i != 0;
      if (!seen || brings_others(seen->findings) || shows(seen->findings, removed)) return false;
      if (seen->status != 0 && plain_.status == 0) return false;
      if (!change.is_of_access) continue;
      RunOutput output = output_of(seen->run);
      if (first && !differences(*first, output).empty()) return false;
      if (!first) first = std::move(output);
    }
    return true;
  }

  const ExplainedRun& explained_;
  const std::uint64_t steps_;
  ProgramExperiments experiments_;
  Seen plain_;
  std::set<std::string> known_;  // keys of what is expected, or was explained elsewhere
  std::uint64_t text_bytes_ = 0;
  bool only_bounds_ = false;
  bool names_host_code_ = names_host_code(explained_.findings);
};

}  // namespace

std::string obstacle_of(const ExplainedRun& explained) {
  std::set<int> processes;
  for (const cudart::ExecRecord& record : explained.run->records) processes.insert(record.process);
  if (processes.size() != 1) return "several processes use the device";
  if (!has_ended_well(*explained.run)) return "the program did not end by itself";
  const cudart::ExecSettings& settings = explained.settings;
  if (!settings.edits.empty() || !settings.texts.empty()) return "its device code is changed";
  if (settings.sparse || settings.steps_budget != 0) return "some blocks alone were run";
  return {};
}

Causes causes_of_program(const ExplainedRun& explained, Supervisor& supervisor,
                         ProgramRunner& runner) {
  Causes causes;
  causes.why_not = obstacle_of(explained);
  if (!causes.why_not.empty()) return causes;
  ProgramReport report(ExpectedFindings(), "");
  report.add(*explained.run);
  return ProgramCauses(explained, supervisor, runner, report.warp_instructions()).run();
}

double cpu_seconds_of_children() {
  rusage used{};
  ::getrusage(RUSAGE_CHILDREN, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

void explain(ProgramReport& report, const TimedRun& failing, cudart::ExecSettings settings,
             std::uint64_t steps_max, Supervisor& supervisor, ProgramRunner& runner) {
  ExplainedRun explained{.run = &failing.run,
                         .settings = std::move(settings),
                         .findings = {},
                         .seconds = failing.seconds,
                         .cpu_seconds = failing.cpu_seconds,
                         .steps_max = steps_max};
  std::vector<std::size_t> numbers;  // in the report, of those to explain
  for (std::size_t i = 0; i < report.findings.size(); ++i) {
    const ProgramReport::Found& found = report.findings[i];
    if (found.run != failing.number || found.class_as_recorded.empty()) continue;
    numbers.push_back(i);
    explained.findings.push_back(found.finding);
  }
  if (explained.findings.empty()) return;
  Causes causes = causes_of_program(explained, supervisor, runner);
  if (supervisor.is_stopped()) return;
  // A report of one finding has nothing to group.
  if (report.findings.size() < 2) causes.why_not = causes.why_ended = {};
  for (HelpfulChange& change : causes.found) {
    for (std::size_t& finding : change.findings) finding = numbers[finding];
  }
  report.causes = std::move(causes);
}

}  // namespace warpcheck
