// What an instruction does with numbers, whatever program it is in.
#pragma once

#include "vgpu/check/numerics/float_rows.hpp"
#include "vgpu/check/numerics/value_plan.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

ValueRule rule_of(const Instr& instr);
// Returns whether an instruction divides integers by a number that is no literal.
bool is_quotient_of_integers(const Instr& instr);
// The formats of the floats that an instruction makes, and of those that it reads.
FloatFormat result_format_of(const Instr& instr);
FloatFormat source_format_of(const Instr& instr);

}  // namespace warpcheck::vgpu
