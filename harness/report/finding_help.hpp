// The meaning of each finding kind and how to repair it, for readers who do not know warpcheck.
#pragma once

#include <cstddef>
#include <string_view>

#include "vgpu/check/finding.hpp"

namespace warpcheck {

struct FindingHelp {
  vgpu::FindingKind kind;
  std::string_view title;    // a few words
  std::string_view meaning;  // one sentence: what was observed
  std::string_view advice;   // the usual repair
};

inline constexpr std::size_t kFindingKinds = 0
#define FINDING_KIND(enumerator, name, checker) +1
#include "vgpu/check/finding_kinds.def"
#undef FINDING_KIND
    ;
// In the order of the enumeration.
[[nodiscard]] const FindingHelp& help_for(vgpu::FindingKind kind);
// Advice for this finding; more specific than its kind's advice if possible.
[[nodiscard]] std::string_view advice_for(const vgpu::Finding& finding);

}  // namespace warpcheck
