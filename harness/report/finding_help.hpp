// What each finding kind means and what to do about it: for readers of a report who have never
// heard of warpcheck.
#pragma once

#include <string_view>

#include "vgpu/check/finding.hpp"

namespace warpcheck {

struct FindingHelp {
  vgpu::FindingKind kind;
  std::string_view title;    // a few words
  std::string_view meaning;  // one sentence: what was seen
  std::string_view advice;   // what usually repairs it
};

inline constexpr std::size_t kFindingKinds = 13;
// In the order of the enumeration.
[[nodiscard]] const FindingHelp& help_for(vgpu::FindingKind kind);
// What to do about this very finding: more to the point than its kind's advice, where that is
// possible.
[[nodiscard]] std::string_view advice_for(const vgpu::Finding& finding);

}  // namespace warpcheck
