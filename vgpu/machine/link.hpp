// Binding a program to this host; link() itself is declared in machine.hpp.
#pragma once

#include "vgpu/machine/compute/compute.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

// link() with the functions for an instruction set of the host that need not be the chosen one:
// for comparing them.  Moves between rows and memory stay those of the chosen one.
void link(Program& program, SimdLevel level);

// Whether the machine executes an atomic of this operation, type and order.
bool atomic_is_supported(const ptx::Modifiers& modifiers);

}  // namespace warpcheck::vgpu
