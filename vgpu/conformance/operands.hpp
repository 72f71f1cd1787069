// The operands of conformance vectors.  They are the same on every machine, so they are not stored.
//
// For each form: every special value of each operand against every special value of each other
// operand, then random and extreme values.  Forms with the same operand types get the same
// operands, so their results are similar and the recording is small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/ptx/forms.hpp"

namespace warpcheck::conformance {

// Returns values at which instructions tend to fail; `type` is a word of forms.def.
std::vector<std::uint64_t> special_values(std::string_view type);

// Returns the bytes of a value of the type; 1 for pred.
std::size_t bytes_of(std::string_view type);

// values[k][i]: operand k of vector i, zero-extended.
using OperandTable = std::vector<std::vector<std::uint64_t>>;
// Not for several threads.
const OperandTable& make_operands(std::span<const std::string> types);

// Returns the vectors of a form; for sequences and whole kernels only some, to keep recordings
// small.
OperandTable operands_of(const ptx::InstructionForm& form);

}  // namespace warpcheck::conformance
