// Binding a program to this host; link() itself is declared in machine.hpp.
#pragma once

#include "vgpu/ptx/opcode.hpp"

namespace warpcheck::vgpu {

// Whether the machine executes an atomic of this operation, type and order.
bool atomic_is_supported(const ptx::Modifiers& modifiers);

}  // namespace warpcheck::vgpu
