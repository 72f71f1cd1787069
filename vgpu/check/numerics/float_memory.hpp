// Which memory holds floats, as the kernel's parameters say.
//
// Optimised code moves a float that it does not calculate with as any other word (ld.global.u32),
// so only the type of the pointer tells what it is.
#pragma once

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Returns whether an instruction loads words through a parameter that is a pointer to float.
bool loads_float(const Program& program, const Instr& load);

}  // namespace warpcheck::vgpu
