#include "harness/report/causes.hpp"

#include <fmt/format.h>

#include <utility>

#include "vgpu/check/finding_groups.hpp"
#include "vgpu/text/counted.hpp"

namespace warpcheck {

std::vector<FindingGroup> finding_groups(std::span<const vgpu::Finding> findings,
                                         const Causes& causes) {
  std::vector<FindingGroup> groups;
  std::vector<bool> is_explained(findings.size(), false);
  for (const HelpfulChange& change : causes.found) {
    groups.push_back({change.findings, &change});
    for (const std::size_t i : change.findings) is_explained[i] = true;
  }
  for (const std::vector<std::size_t>& by_rules : vgpu::groups_of_one_cause(findings)) {
    FindingGroup rest;
    for (const std::size_t i : by_rules) {
      if (!is_explained[i]) rest.findings.push_back(i);
    }
    if (!rest.findings.empty()) groups.push_back(std::move(rest));
  }
  return groups;
}

std::vector<std::size_t> first_of_groups(std::span<const vgpu::Finding> findings,
                                         const Causes& causes) {
  std::vector<std::size_t> first_of(findings.size());
  for (const FindingGroup& group : finding_groups(findings, causes)) {
    for (const std::size_t i : group.findings) first_of[i] = group.findings.front();
  }
  return first_of;
}

std::string limit_of(const Causes& causes) {
  if (!causes.why_not.empty())
    return fmt::format("findings are grouped by rules, no change was tried: {}", causes.why_not);
  if (!causes.budget_used_up && causes.why_ended.empty()) return {};
  const bool all_tried = causes.tried == causes.known;
  const std::string when = all_tried
                               ? "before what had helped was confirmed under other schedules"
                               : fmt::format("after {} of {} changes", causes.tried, causes.known);
  if (!causes.why_ended.empty())
    return fmt::format("experiments ended {}: {}; other findings are grouped by rules", when,
                       causes.why_ended);
  return fmt::format(
      "the budget of steps for experiments was used up {}; other findings are grouped by rules",
      when);
}

std::string sentence_of(const HelpfulChange& change, std::size_t all) {
  const std::size_t count = change.findings.size();
  if (count == all) {
    return fmt::format("with {}, this {} has no findings", change.text,
                       change.is_of_program ? "program" : "case");
  }
  if (count == 1) return fmt::format("with {}, this finding vanishes", change.text);
  return fmt::format("with {}, these {} findings vanish", change.text, count);
}

std::string folded_title(const FindingGroup& group) {
  const std::size_t others = group.findings.size() - 1;
  if (group.change == nullptr) return fmt::format("{} more of this cause", others);
  return fmt::format("and {}", counted(others, "consequence"));
}

}  // namespace warpcheck
