// Sequences of instructions as compilers emit them: sequences.def, expanded.
#pragma once

#include <vector>

#include "vgpu/ptx/forms.hpp"

namespace warpcheck::conformance {

// Their `mnemonic` is a name; their families begin with "sequence_".
const std::vector<ptx::InstructionForm>& sequences();
bool is_sequence(const ptx::InstructionForm& form);

// Returns all forms with vectors: the forms of forms.def and the sequences.
const std::vector<ptx::InstructionForm>& recorded_forms();

}  // namespace warpcheck::conformance
