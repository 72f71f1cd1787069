#include "harness/search/replay.hpp"

#include <fmt/format.h>

#include <optional>

#include "harness/trial/schedule_search.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {
namespace {

constexpr std::uint64_t kPoliciesMax = 200;

std::optional<Verdict> search_anew(const CaseRecord& record, TrialRunner& runner) {
  const auto run = [&](const Case& a_case, vgpu::Strategy* strategy) -> std::optional<Verdict> {
    return strategy == nullptr ? runner.run(a_case) : runner.run(a_case, *strategy);
  };
  const auto as_recorded = [&](const Verdict& verdict) {
    return failure_kinds(verdict) == record.kinds;
  };
  return search_schedules(record.a_case, {.policies_max = kPoliciesMax}, run, as_recorded);
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
    } else if (std::optional<Verdict> found = search_anew(record, runner)) {
      verdict = std::move(*found);
      outcome.report.a_case.schedule = verdict.schedule;
      outcome.remark += "; another schedule, searched for anew, shows the same kinds";
    } else {
      outcome.remark += "; other schedules were searched";
    }
  } else if (verdict.decisions_ignored != 0) {
    outcome.remark = fmt::format("{} of the schedule did not fit and {} not followed",
                                 counted(verdict.decisions_ignored, "decision"),
                                 verdict.decisions_ignored == 1 ? "was" : "were");
  }
  outcome.as_recorded = failure_kinds(verdict) == record.kinds;
  if (!outcome.as_recorded) {
    outcome.remark += fmt::format("{}recorded {}, found {}", outcome.remark.empty() ? "" : "; ",
                                  describe(record.kinds), describe(failure_kinds(verdict)));
  }
  return outcome;
}

}  // namespace warpcheck
