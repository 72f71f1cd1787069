// What experiments with changed device code have shown of a failing case or program: which findings
// vanish together (harness/causes finds it), and how reports group findings by it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "vgpu/check/finding.hpp"

namespace warpcheck {

// A change with which findings vanish, and no others appear.
struct HelpfulChange {
  std::string text;  // "__syncthreads() before scan.cu:14"
  // Indices of the findings: first the one that is shown as the cause, then its consequences,
  // ascending.
  std::vector<std::size_t> findings;
  bool is_of_program = false;  // else of a case
};

struct Causes {
  std::vector<HelpfulChange> found;
  // Changes that were run, and those that were known.  Fewer were run than known: enough was found,
  // or the budget was used up.
  std::uint32_t tried = 0, known = 0;
  bool budget_used_up = false;
  // Why no change was tried, although there are errors; empty: it was, or nobody asked.
  std::string why_not{};
  // Why no more changes were tried, other than the budget; empty: nothing ended the experiments.
  std::string why_ended{};
};

// Findings that a report shows together, the first one in full.
struct FindingGroup {
  std::vector<std::size_t> findings;      // indices
  const HelpfulChange* change = nullptr;  // null: grouped by rules (vgpu/check/finding_groups.hpp)
};

// Groups by experiment come first; those by rules follow in the order of their first finding.  The
// result refers to `causes`.
[[nodiscard]] std::vector<FindingGroup> finding_groups(std::span<const vgpu::Finding> findings,
                                                       const Causes& causes);

// For each finding the index of the first one of its group.
[[nodiscard]] std::vector<std::size_t> first_of_groups(std::span<const vgpu::Finding> findings,
                                                       const Causes& causes);

// What limits the grouping, for all formats: "the budget of steps for experiments was used up after
// 12 of 40 changes; other findings are grouped by rules"; empty: nothing does.
[[nodiscard]] std::string limit_of(const Causes& causes);

// "with __syncthreads() before scan.cu:14, this case has no findings"
//   all: how many findings there are
[[nodiscard]] std::string sentence_of(const HelpfulChange& change, std::size_t all);

// "and 2 consequences"; of a group by rules "2 more of this cause".
[[nodiscard]] std::string folded_title(const FindingGroup& group);

}  // namespace warpcheck
