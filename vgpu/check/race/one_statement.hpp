// Lanes of a warp in lockstep that store different values to one place by one instruction.
//
// Lockstep orders a warp's instructions, and not the lanes of one of them: which lane's value stays
// is not defined (CUDA C++ Programming Guide, "SIMT Architecture").  Equal values are no matter.
#pragma once

#include "vgpu/check/reporter.hpp"
#include "vgpu/machine/access.hpp"

namespace warpcheck::vgpu {

// Reports the first two lanes of a weak store of which that is true.
void check_one_statement(const Access& store, Reporter& reporter);

}  // namespace warpcheck::vgpu
