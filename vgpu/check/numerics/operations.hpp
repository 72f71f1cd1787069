// Instructions as text with the values of their operands: "0 / 0", "2^200".
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "vgpu/check/numerics/float_rows.hpp"
#include "vgpu/check/numerics/value_plan.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Returns what an instruction computes of these operands.
std::string text_of_operation(const Instr& instr, FloatFormat format,
                              std::span<const double> operands);
// Returns the call of a function of the toolkit that an instruction is a step of: "expf(90)".
std::string text_of_step(FunctionStep step, std::span<const double> operands);
// Returns what a function of the toolkit is called with: "lgamma(-2)"; "pow() or tgamma() outside
// the domain" if it is one of several.
std::string text_of_call(std::string_view function, const std::string& arguments);
// Returns the integer of a lane in a row of this type; of an unsigned one from 2^63 on, its bits.
std::int64_t integer_at(const std::byte* row, ptx::Type type, unsigned lane);
// Returns "4,294,967,296".
std::string with_commas(std::int64_t value);

}  // namespace warpcheck::vgpu
