// Chooses the function that executes a compute instruction.
//
// A compute instruction computes rows from rows; it accesses no memory and no other lanes, and has
// no control flow.  There is one function for each form (opcode, modifiers, types), compiled once
// for each instruction set of the host; all copies give the same bits.  Source: PTX ISA 9.0, 9.7.1
// - 9.7.9.
//
// Rules for operands in addition to operands.hpp:
//   - Rows may hold anything above the width of their register's type; every function cuts its
//     sources to the instruction's types.  `cvt` to a signed narrow type extends to the whole row.
//   - The fourth source, of bfi and of a mov of four parts, is f.
//   - lop3: the table is Instr::truth_table.
//   - setp, lop3 and unpacking mov: destinations may be absent (the sink).
//   - mov of vectors: modifiers.vector is 2 or 4, modifiers.type is the type of the whole.
//   - Negated predicate sources do not exist: the decoder inserts a `not`.
//   - Carries: for subtraction they are borrows.  Either may be absent.
#pragma once

#include <cstdint>
#include <string_view>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Instruction sets that the compute functions are compiled for, in rising order.
enum class SimdLevel : std::uint8_t { baseline, avx2, avx512 };

// Returns the best level that this processor supports, or a lower one that the environment variable
// WARPCHECK_SIMD names.  Decided at the first call.
SimdLevel chosen_simd_level();
// Returns the best level that this processor supports.
SimdLevel host_simd_level();
std::string_view name_of(SimdLevel level);

// Returns the function that executes `instr` on this host, or nullptr if the machine does not
// support the form.  The result depends on the opcode, the modifiers, and which operands are
// present.
ComputeFn find_compute(const Instr& instr);
// Returns the function for a level.  To call it, the level must not be above host_simd_level().
ComputeFn find_compute(const Instr& instr, SimdLevel level);

}  // namespace warpcheck::vgpu
