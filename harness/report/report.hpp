// What is reported of one failure: data; its printers have no logic.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/case/case.hpp"
#include "harness/input/json_values.hpp"
#include "harness/trial/verdict.hpp"

namespace warpcheck {

struct Report {
  Case a_case;
  Verdict verdict;
  // How it was found; not given for a replay, whose report is the same however often it is run.
  struct Search {
    std::uint64_t trials = 0;
    std::uint64_t shrinks = 0;
    bool complete = true;  // false: the shrinker's budget was used up
  };
  std::optional<Search> search;
  std::string replay_path;  // of the case file; empty: it was not written
};

// Same report, same bytes: no times, no addresses, no paths of this machine.
std::string report_text(const Report& report);

// One finding as text, indented by two.
std::string finding_text(const vgpu::Finding& finding);
// The findings of a group but the first, which was told, a line each; empty: there are no others.
//   group: their indices (vgpu/check/finding_groups.hpp)
std::string folded_text(const std::vector<vgpu::Finding>& findings,
                        const std::vector<std::size_t>& group);

}  // namespace warpcheck
