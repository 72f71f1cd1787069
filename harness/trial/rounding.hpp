// The agreement within_rounding(): an output may be as far from its reference as running error
// analysis of its kernel's own operations says (vgpu/check/precision/rounding_domain.hpp).
#pragma once

#include <optional>
#include <string>

#include "harness/case/case.hpp"
#include "harness/trial/engine.hpp"
#include "vgpu/schedule/schedule.hpp"

namespace warpcheck {

// Returns the worst element that is too far, and the line at which most of its digits were lost, or
// that the kernel calculates something else; nothing: the output agrees.  Runs the kernel once
// more.
//   schedule: of the run that has made the output
std::optional<std::string> rounding_difference(const Case& a_case, const AnyOutput& output,
                                               const AnyOutput& reference,
                                               const vgpu::Schedule& schedule,
                                               Engine& engine = virtual_gpu());

}  // namespace warpcheck
