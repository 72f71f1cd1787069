// The operands of conformance vectors: the same on every machine, so that they need not be stored.
//
// For each form: every special value of each operand against every special value of each other
// one, then random and extreme ones.  Forms whose operands have the same types get the same
// operands, which makes their results alike and the recording small.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "vgpu/ptx/forms.hpp"

namespace warpcheck::conformance {

// Values at which instructions tend to go wrong; `type` is a word of forms.def.
std::vector<std::uint64_t> special_values(std::string_view type);

// Bytes of a value of the type; 1 for pred.
std::size_t bytes_of(std::string_view type);

// values[k][i]: operand k of vector i, zero-extended.
using OperandTable = std::vector<std::vector<std::uint64_t>>;
OperandTable make_operands(std::span<const std::string> types);

// The vectors of a form; of sequences and whole kernels some of them, or recordings would be large.
OperandTable operands_of(const ptx::InstructionForm& form);

}  // namespace warpcheck::conformance
