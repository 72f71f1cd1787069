// The arithmetic of one lane, as PTX ISA 9.7.1 - 9.7.9 defines it.  See reference.hpp.
#pragma once

#include <array>
#include <cstdint>

#include "vgpu/ptx/forms.hpp"
#include "vgpu/ptx/module.hpp"

namespace warpcheck::vgpu {

// The bits of operands and results, zero-extended; predicates are 0 or 1.
struct ReferenceOperands {
  std::array<std::uint64_t, 5> source{};
  bool carry_in = false, carry_out = false;
  std::uint64_t second_result = 0;  // set for setp p|q and lop3 d|p
};

// Returns whether the reference supports the form: integers, logic, comparisons, conversions, f32
// and f64.
bool reference_knows(const ptx::InstructionForm& form);

// Returns the bits of the destination for the sources in `o`.  Throws std::logic_error for
// unsupported forms.
std::uint64_t reference_result(const ptx::Instruction& in, ReferenceOperands& o);

}  // namespace warpcheck::vgpu
