// Linking a program: binding its instructions to functions for this host. link() itself is declared
// in machine.hpp.
#pragma once

#include "vgpu/machine/compute/compute.hpp"
#include "vgpu/program/program.hpp"
#include "vgpu/ptx/vocabulary.hpp"

namespace warpcheck::vgpu {

// Like link(), but with the functions for another instruction set of the host, to compare them.
// Moves between rows and memory keep using the chosen instruction set.
void link(Program& program, SimdLevel level);

// Returns whether the machine supports an atomic with this operation, type and order.
bool atomic_is_supported(const ptx::Modifiers& modifiers);

}  // namespace warpcheck::vgpu
