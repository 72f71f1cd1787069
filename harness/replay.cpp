#include "harness/replay.hpp"

#include <fmt/format.h>

#include <optional>

#include "harness/schedule_search.hpp"

namespace warpcheck {
namespace {

constexpr std::uint64_t kPoliciesMax = 200;

// The recorded verdict of the first policy under which the input shows these kinds.
std::optional<Verdict> search_schedules(const CaseRecord& record, TrialRunner& runner) {
  Case candidate = record.a_case;
  for (std::uint64_t i = 0; i < kPoliciesMax; ++i) {
    candidate.schedule = policy(i);
    const Verdict found = runner.run(candidate);
    if (failure_kinds(found) != record.kinds) continue;
    candidate.schedule = found.schedule;
    Verdict again = runner.run(candidate);
    if (failure_kinds(again) == record.kinds) return again;
  }
  return std::nullopt;
}

std::string describe(const std::vector<vgpu::FindingKind>& kinds) {
  return kinds.empty() ? "nothing" : show_kinds(kinds);
}

}  // namespace

ReplayOutcome replay(const CaseRecord& record, TrialRunner& runner) {
  ReplayOutcome outcome{.report = {.a_case = record.a_case,
                                   .verdict = runner.run(record.a_case),
                                   .search = std::nullopt,
                                   .replay_path = {}},
                        .remark = {}};
  Verdict& verdict = outcome.report.verdict;
  if (!verdict.refusals.empty()) return outcome;
  const bool other_code = record.ptx_hash != 0 && record.ptx_hash != verdict.ptx_hash;
  if (other_code) {
    outcome.remark = "the device code is not that of the record";
    if (failure_kinds(verdict) == record.kinds) {
      outcome.remark += "; the recorded schedule shows the same kinds";
    } else if (std::optional<Verdict> found = search_schedules(record, runner)) {
      verdict = std::move(*found);
      outcome.report.a_case.schedule = verdict.schedule;
      outcome.remark += "; another schedule, searched for anew, shows the same kinds";
    } else {
      outcome.remark += fmt::format("; {} other schedules were searched", kPoliciesMax);
    }
  } else if (verdict.decisions_ignored != 0) {
    outcome.remark = fmt::format("{} decisions of the schedule did not fit and were not followed",
                                 verdict.decisions_ignored);
  }
  outcome.as_recorded = failure_kinds(verdict) == record.kinds;
  if (!outcome.as_recorded) {
    outcome.remark += fmt::format("{}recorded {}, found {}", outcome.remark.empty() ? "" : "; ",
                                  describe(record.kinds), describe(failure_kinds(verdict)));
  }
  return outcome;
}

}  // namespace warpcheck
