// The report of one failure, as data; its printers have no logic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/case/case.hpp"
#include "harness/case/verdict.hpp"
#include "harness/input/json_values.hpp"
#include "harness/report/causes.hpp"

namespace warpcheck {

struct Report {
  Case a_case;
  Verdict verdict;
  // The search that found it; absent for a replay, so that every replay has the same report.
  struct Search {
    std::uint64_t trials = 0;
    std::uint64_t shrinks = 0;
    bool complete = true;  // false: the shrinker's budget was used up
  };
  std::optional<Search> search;
  std::string replay_path;  // of the case file; empty: it was not written
  Causes causes{};          // by experiment; none were looked for: rules group the findings
};

// The same report gives the same bytes: no times, no addresses, no paths of the host.
std::string report_text(const Report& report);

// One finding as text, indented by two.
std::string finding_text(const vgpu::Finding& finding);
// The findings of a group except the first, which has been printed, one line each; empty if there
// are no others.
std::string folded_text(const std::vector<vgpu::Finding>& findings, const FindingGroup& group);

}  // namespace warpcheck
