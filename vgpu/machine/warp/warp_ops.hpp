// Chooses the function that executes a warp instruction: one that reads other lanes.
//
// shfl, vote, match, activemask, redux, elect: PTX ISA 9.0, 9.7.9.5 - 9.7.13.  The machine has
// brought the lanes of the member mask together before it calls; `active` are the lanes that
// execute the instruction now, and these alone are read, voted, and written.
//
// Operands (refs):
//   shfl:  [0] d, [4] p, [1] a, [2] b, [3] c, [5] member mask
//   vote:  [0] d (a predicate, or a word for ballot), [1] a (predicate), [5] member mask
//   match: [0] d, [4] p (match.all), [1] a, [5] member mask; modifiers.vote is any or all
//   redux: [0] d, [1] a, [5] member mask; modifiers.atom_op is the operation
//   elect: [0] d, [4] p, [5] member mask        activemask: [0] d
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
