// Chooses the function that executes a warp instruction, which is one that reads other lanes.
//
// shfl, vote, match, activemask, redux, elect: PTX ISA 9.0, 9.7.9.5 - 9.7.13.  The machine has
// brought the lanes of the member mask together before it calls the function.  `active` are the
// lanes that execute the instruction now; only these lanes are read, vote, and are written.
//
// Operands: see WarpOperand.  The result of vote is a predicate, or a word for ballot;
// modifiers.vote selects any or all for match; modifiers.atom_op is the operation of redux.  The
// machine checks the member mask; the functions do not use it.
#pragma once

#include <cstdint>

#include "vgpu/machine/compute/compute.hpp"
#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

using WarpFn = void (*)(const LaneBanks& banks, const Instr& instr, std::uint32_t active);

// Returns the function that executes `instr` on this host, or nullptr if the machine does not
// support the form.
WarpFn find_warp_op(const Instr& instr);
WarpFn find_warp_op(const Instr& instr, SimdLevel level);

}  // namespace warpcheck::vgpu
