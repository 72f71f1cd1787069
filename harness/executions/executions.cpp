#include "harness/executions/executions.hpp"

#include <fmt/format.h>

#include <utility>

#include "harness/trial/trial.hpp"
#include "harness/trial/watched_engine.hpp"
#include "vgpu/check/executions/execution_run.hpp"
#include "vgpu/check/executions/execution_search.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

Case case_to_try(const Case& given) {
  Case a_case = given;
  a_case.settings.warp_model = vgpu::WarpModel::independent;
  a_case.settings.checkers = {};
  a_case.schedule = vgpu::Schedule{};
  return a_case;
}

}  // namespace

std::string grouped(std::uint64_t number) {
  std::string digits = fmt::format("{}", number);
  for (std::size_t i = digits.size(); i > 3; i -= 3) digits.insert(i - 3, 1, ',');
  return digits;
}

// The limit that was reached; empty: none.
static std::string bound_reached(const ExecutionLimits& limits, const vgpu::ExecutionSearch& search,
                                 std::uint64_t steps) {
  const auto cut_at = [](std::uint64_t bound, std::string_view of) {
    return fmt::format("the search was cut at {} {}", grouped(bound), of);
  };
  if (search.runs() >= limits.runs) return cut_at(limits.runs, noun_of(limits.runs, "run"));
  if (steps >= limits.steps) return cut_at(limits.steps, "warp instructions");
  if (search.events_looked_at() >= limits.events) return cut_at(limits.events, "events");
  return {};
}

Executions try_every_execution(const Case& given, const ExecutionLimits& limits, Engine& engine) {
  Case a_case = case_to_try(given);
  Executions found;
  vgpu::CoveredPrograms programs;
  vgpu::ExecutionSearch search;
  std::uint64_t steps = 0;
  while (auto begin = search.next()) {
    found.why_not = bound_reached(limits, search, steps);
    if (!found.why_not.empty()) break;
    vgpu::ExecutionRun run(std::move(*begin), {.is_weak = true, .threads_max = limits.threads},
                           programs);
    WatchedEngine watched(engine, run, false);
    Verdict verdict = TrialRunner(watched).run(a_case, run);
    steps += verdict.steps;
    const vgpu::ExecutionTrace trace = run.take_trace();
    if (verdict.failed()) {
      a_case.schedule = verdict.schedule;
      found.failed = a_case;
      found.verdict = std::move(verdict);
      break;
    }
    if (!verdict.refusals.empty()) found.why_not = "cannot run: " + verdict.refusals.front();
    if (!trace.gap.empty()) found.why_not = trace.gap;
    if (trace.strayed) found.why_not = "an order of threads could not be kept";
    if (!found.why_not.empty()) break;
    search.add(trace);
  }
  found.count = search.executions();
  found.runs = search.runs();
  found.all = found.why_not.empty() && !found.failed;
  return found;
}

std::string text_of(const Executions& executions) {
  if (executions.failed) return "an execution does not agree";
  if (executions.all) {
    return executions.count == 1
               ? "there is one execution"
               : fmt::format("all {} executions agree", grouped(executions.count));
  }
  return fmt::format("{} {} tried; {}", grouped(executions.count),
                     noun_of(executions.count, "execution"), executions.why_not);
}

}  // namespace warpcheck
