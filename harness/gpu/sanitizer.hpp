// compute-sanitizer's findings as ours.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/check/finding.hpp"

namespace warpcheck {

inline constexpr std::array<std::string_view, 4> kSanitizerTools{"memcheck", "racecheck",
                                                                 "initcheck", "synccheck"};

// What a log of compute-sanitizer 2025 (of CUDA 13.0) says, each place once with its count: errors
// of memcheck, hazards of racecheck (its warnings too, as errors: a race within a warp is one),
// uninitialised reads, misused barriers.  Failed API calls count only where nothing else was found:
// they follow from what came before.  A line that is not understood is not a finding; that there
// was one is known from the summary (sanitizer_errors).
[[nodiscard]] std::vector<vgpu::Finding> parse_sanitizer_log(std::string_view text);

// The number of errors and hazards that the log sums up; -1: it has no summary, as the tool did not
// run to its end.
[[nodiscard]] long sanitizer_errors(std::string_view text);

// The program, found on PATH or where the CUDA Toolkit puts it; empty: it is not installed.
[[nodiscard]] std::string find_compute_sanitizer();

}  // namespace warpcheck
