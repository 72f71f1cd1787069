#include "cli/exec/other_schedules.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "cli/exec/program_experiments.hpp"
#include "vgpu/schedule/strategies.hpp"

namespace warpcheck {
namespace {

constexpr int kSchedules = 10;  // two seeds of each strategy
// Steps count what kernels do, and a limit of time what the program does besides: of one run,
// besides this many times what the first one took, and of all, besides as much as the first one.
constexpr double kSecondsLeast = 1, kTimesOfFirst = 10;

bool sees_order(const ProgramRun& run) {
  return std::ranges::any_of(run.records, [](const cudart::ExecRecord& record) {
    const auto* const kernel = std::get_if<cudart::KernelRecord>(&record.what);
    return kernel != nullptr && !kernel->sees_order.empty();
  });
}

// Whether lanes of one warp have parted that the default schedule, and probably every GPU, keeps
// together.  Code that asks which lanes are active (__activemask()) counts on that; races between
// lanes need no other schedule to be found.
bool has_parted_lanes(const ProgramReport& shown) {
  return std::ranges::any_of(shown.findings, [](const ProgramReport::Found& found) {
    return found.finding.lack == vgpu::Lack::warp_barrier ||
           std::ranges::any_of(found.finding.accesses,
                               [](const vgpu::AccessSide& side) { return side.role == "shuffle"; });
  });
}

// Moves the errors of a run into the report.
void add_errors(ProgramReport& report, ProgramReport&& shown, int run) {
  for (ProgramReport::Found& found : shown.findings) {
    if (found.finding.severity != vgpu::Severity::error) continue;
    found.run = run;
    report.findings.push_back(std::move(found));
  }
}

}  // namespace

StrategyChoice other_schedule(int number) {
  std::vector<std::string_view> names;
  for (const vgpu::StrategyRow& row : vgpu::strategies()) {
    if (row.looks_again) names.push_back(row.name);
  }
  const auto index = static_cast<std::size_t>(number - 1);
  return {std::string(names[index % names.size()]), 1 + index / names.size()};
}

std::optional<TimedRun> look_again(ProgramReport& report, const ExplainedRun& seen,
                                   Supervisor& supervisor, ProgramRunner& runner) {
  if (!sees_order(*seen.run) || !obstacle_of(seen).empty()) return std::nullopt;
  ProgramExperiments experiments(supervisor, runner, kTimesOfFirst * seen.seconds + kSecondsLeast,
                                 seen.cpu_seconds + kSecondsLeast);
  cudart::ExecSettings settings = settings_of_experiment(seen.settings);
  settings.host_lines = true;
  std::uint64_t cost = report.warp_instructions() / static_cast<unsigned>(report.runs);
  for (int number = 1; number <= kSchedules && !supervisor.is_stopped(); ++number) {
    cost += kStepsOfCopy;
    if (cost > seen.steps_max) break;
    const StrategyChoice schedule = other_schedule(number);
    settings.strategy = schedule.name;
    settings.seed = schedule.seed;
    const auto begin = std::chrono::steady_clock::now();
    std::optional<ProgramRun> run = experiments.run(settings);
    if (!run) break;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    ProgramReport shown(report.expectations, report.program);
    shown.add(*run);
    cost += shown.warp_instructions();
    if (shown.errors() == 0 || has_parted_lanes(shown)) continue;
    const int place = report.runs + number;
    add_errors(report, std::move(shown), place);
    return TimedRun{place, *std::move(run), took.count(), seen.cpu_seconds};
  }
  return std::nullopt;
}

}  // namespace warpcheck
