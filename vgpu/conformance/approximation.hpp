// The accuracy that the ISA guarantees for approximate instructions, and the error of a result.
//
// The exact value comes from the host's library in long double: tests may use it, the machine may
// not.  Source: PTX ISA 9.0, 9.7.3 (div, rcp, sqrt, rsqrt, sin, cos, lg2, ex2, tanh), 9.7.4 (ex2,
// tanh of 16-bit floats); where the ISA gives no number (f64), the accuracy of an H200.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "vgpu/ptx/forms.hpp"

namespace warpcheck::conformance {

// Returns the error of a result as a share of the allowed error: at most 1 if the guarantee holds.
// Empty if there is no guarantee (arguments outside the range that the ISA names).
//   operands, result: the bits of one vector. Pairs give the larger error of both halves.
std::optional<double> error_share(const ptx::InstructionForm& form,
                                  std::span<const std::uint64_t> operands, std::uint64_t result);

}  // namespace warpcheck::conformance
