// Chooses the function that executes a warp instruction: one that reads other lanes.
//
// shfl, vote, match, activemask, redux, elect: PTX ISA 9.0, 9.7.9.5 - 9.7.13.  The machine has
// brought the lanes of the member mask together before it calls; `active` are the lanes that
// execute the instruction now, and these alone are read, voted, and written.
//
// Operands: see WarpOperand.  The result of vote is a predicate, or a word for ballot; what match
// looks for is modifiers.vote, any or all; the operation of redux is modifiers.atom_op.
// A lane's member mask other than the executing lanes is for the machine to judge; the functions
// do not look at it.
#pragma once

#include <cstdint>

#include "vgpu/machine/compute/compute.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

using WarpFn = void (*)(const LaneBanks& banks, const Instr& instr, std::uint32_t active);

// The function that executes `instr` on this host, or nullptr when the machine cannot execute
// that form.
WarpFn find_warp_op(const Instr& instr);
WarpFn find_warp_op(const Instr& instr, SimdLevel level);

}  // namespace warpcheck::vgpu
