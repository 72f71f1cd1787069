// The f32 and f64 arithmetic of one lane, as PTX ISA 9.7.3 defines it, with the NaN results of an
// H200.  See reference.hpp.
#pragma once

#include <cstdint>

#include "vgpu/differential/reference/reference_arithmetic.hpp"

namespace warpcheck::vgpu {

std::uint64_t reference_float_result(const ptx::Instruction& in, const ReferenceOperands& o);
bool reference_float_compares(const ptx::Instruction& in, ptx::Type type, std::uint64_t a,
                              std::uint64_t b);
// Converts from or to a float.
std::uint64_t reference_float_conversion(const ptx::Instruction& in, std::uint64_t a);
bool reference_float_test(const ptx::Instruction& in, std::uint64_t a);
// slct by an f32: NaN counts as negative, -0 does not.
bool reference_is_not_negative(const ptx::Instruction& in, std::uint64_t a);

}  // namespace warpcheck::vgpu
