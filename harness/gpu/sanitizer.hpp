// compute-sanitizer's findings converted to ours.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/check/finding.hpp"

namespace warpcheck {

inline constexpr std::array<std::string_view, 4> kSanitizerTools{"memcheck", "racecheck",
                                                                 "initcheck", "synccheck"};

// The findings of a log of compute-sanitizer 2025 (of CUDA 13.0), each place once with its count:
// errors of memcheck, hazards of racecheck (its warnings too, as errors, because it reports a race
// within a warp as a warning), uninitialised reads, misused barriers.  Failed API calls count only
// if nothing else was found, because they follow from earlier errors.  A line that is not
// understood is not a finding; the summary counts it (sanitizer_errors).
[[nodiscard]] std::vector<vgpu::Finding> parse_sanitizer_log(std::string_view text);

// The number of errors and hazards in the log's summary; -1: it has no summary, because the tool
// did not run to its end.
[[nodiscard]] long sanitizer_errors(std::string_view text);

// The program's path, from PATH or the CUDA Toolkit's directory; empty: it is not installed.
[[nodiscard]] std::string find_compute_sanitizer();

}  // namespace warpcheck
