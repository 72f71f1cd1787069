// Registers that a thread may read before it has written them: variables without an initial value
// that the compiler keeps in registers.
#pragma once

#include <vector>

#include "vgpu/program/program.hpp"

namespace warpcheck::vgpu {

// Returns, by function, the registers of its frame that may be read, on some path from the
// beginning of the kernel, before the thread has written them in any call.  What the compiler reads
// does not count (padding of parameters, what a speculated load leaves), and neither do variables
// of the toolkit's headers, which read what they have not written where it cannot matter:
// thrust::set_difference() compares keys behind the last one of a tile.  A variable of the user
// counts wherever it is read.
// Empty: there are none, or they are not known (recursion, calls through registers, very large
// programs).
[[nodiscard]] std::vector<std::vector<UnwrittenRegister>> unwritten_registers(
    const Program& program);

// Returns whether any register at all may be read before it is written, or whether that is not
// known.
[[nodiscard]] bool reads_unwritten_register(const Program& program);

}  // namespace warpcheck::vgpu
