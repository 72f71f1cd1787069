// What the ISA promises of approximate instructions, and how far a result is from the truth.
//
// The truth comes from the host's library in long double: tests may use it, the machine may not.
// Source: PTX ISA 9.0, 9.7.3 (div, rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh), 9.7.4 (ex2, tanh of
// 16-bit floats); where it gives no number (f64), what the H200 keeps to.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "vgpu/ptx/forms.hpp"

namespace warpcheck::conformance {

// The error of a result as a share of what is allowed: at most 1 if the promise is kept.  Empty
// where nothing is promised (arguments outside of the range that the ISA names).
//   operands, result: bits, those of one vector.  Pairs give the larger of both halves' errors.
std::optional<double> error_share(const ptx::InstructionForm& form,
                                  std::span<const std::uint64_t> operands, std::uint64_t result);

}  // namespace warpcheck::conformance
