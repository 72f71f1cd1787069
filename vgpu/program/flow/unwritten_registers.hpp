// Registers that a thread may read before it has written them: variables without an initial value
// that the compiler keeps in registers.
#pragma once

#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Returns, by function, the registers of its frame that may be read, on some path from the
// beginning of the kernel, before the thread has written them in any call.  What the compiler or
// the toolkit's headers read does not count: padding of parameters, what a speculated load leaves.
// Empty: there are none, or they are not known (recursion, calls through registers, very large
// programs).
[[nodiscard]] std::vector<std::vector<UnwrittenRegister>> unwritten_registers(
    const Program& program);

// Returns whether any register at all may be read before it is written, or whether that is not
// known.
[[nodiscard]] bool reads_unwritten_register(const Program& program);

}  // namespace warpcheck::vgpu
