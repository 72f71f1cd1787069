// One lane's arithmetic, as PTX ISA 9.7.1 - 9.7.9 defines it.  See reference.hpp.
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
  std::uint64_t second_result = 0;  // of setp p|q and lop3 d|p
};

// Whether the reference knows the form: integers, logic, comparisons, conversions, f32 and f64.
bool reference_knows(const ptx::InstructionForm& form);

// The destination's bits for the sources `o`.  Throws std::logic_error for what it does not know.
std::uint64_t reference_result(const ptx::Instruction& in, ReferenceOperands& o);

}  // namespace warpcheck::vgpu
