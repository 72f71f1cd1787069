// Instructions as text with the values of their operands: "0 / 0", "2^200".
#pragma once

#include <span>
#include <string>

#include "vgpu/check/numerics/float_rows.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Returns what an instruction computes of these operands.
std::string text_of_operation(const Instr& instr, FloatFormat format,
                              std::span<const double> operands);
// Returns "4,294,967,296".
std::string with_commas(std::int64_t value);

}  // namespace warpcheck::vgpu
